// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
import FirestoreQuery

// The listeners' states for an observer outside.
extension SyncEngine {
  /// Has all events of the listeners put into a tap as well, beginning with the present listeners; `nil` ends that.
  package nonisolated func setTap(_ tap: ListenerTap?) {
    submit { engine in
      engine.tap = tap
      for state in engine.core?.listenerStates ?? [] { tap?.open(state) }
    }
  }

  /// The present listeners, without those of single reads.
  package func listenerStates() -> [ListenerState] {
    (core?.listenerStates ?? []).filter { !$0.options.waitForSyncWhenOnline }
  }
}

extension SyncCore {
  /// The listeners' states, ascending by id.
  fileprivate var listenerStates: [ListenerState] {
    listens.listeners.all.compactMap { listener in
      listens.views.read(listener.view) { view in
        var result = ListenerState.Result()
        if listener.hasRaisedInitialEvent {
          let snapshot = view.snapshot(causes: [])
          result = ListenerState.Result(
            count: snapshot.documents.count, isFromCache: snapshot.isFromCache,
            hasPendingWrites: snapshot.hasPendingWrites)
        }
        return ListenerState(
          id: listener.id.rawValue, query: view.query, options: listener.options, result: result)
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
import FirestoreQuery

// What who looks on from outside needs to know of the listeners.
extension SyncEngine {
  /// Has all that happens to the listeners put into a tap as well, beginning with those that are there; `nil` for no
  /// more.
  package nonisolated func setTap(_ tap: ListenerTap?) {
    submit { engine in
      engine.tap = tap
      for state in engine.core?.listenerStates ?? [] { tap?.open(state) }
    }
  }

  /// The listeners that are there, without reads of a moment.
  package func listenerStates() -> [ListenerState] {
    (core?.listenerStates ?? []).filter { !$0.options.waitForSyncWhenOnline }
  }
}

extension SyncCore {
  /// By their numbers.
  fileprivate var listenerStates: [ListenerState] {
    listeners.all.compactMap { listener in
      views.read(listener.view) { view in
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

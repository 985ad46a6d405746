// SPDX-License-Identifier: Apache-2.0

extension SyncEngine {
  /// An element after all listeners that one change affected have their snapshots, and one at the start.
  package nonisolated func snapshotsInSync() -> AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      submit { engine in
        guard engine.core != nil else { return continuation.finish() }
        engine.observerCount += 1
        let id = engine.observerCount
        engine.syncObservers[id] = continuation
        continuation.onTermination = { _ in self.submit { $0.syncObservers[id] = nil } }
        continuation.yield()
      }
    }
  }
}

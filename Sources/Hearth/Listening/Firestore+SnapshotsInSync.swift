// SPDX-License-Identifier: Apache-2.0
import FirestoreSync
import Synchronization

extension Firestore {
  /// Calls back whenever all listeners that one change affects have been called: then their snapshots belong together
  /// (S1). Says nothing about whether they are in sync with the backend.
  @discardableResult
  public func addSnapshotsInSyncListener(_ listener: @escaping @Sendable () -> Void) -> any ListenerRegistration {
    let queue = settings.dispatchQueue
    guard let client = try? client() else { return RefusedListener(on: queue) {} }
    return InSyncListener(client: client, settings: settings, listener)
  }
}

/// The registration of a snapshots-in-sync listener.
private final class InSyncListener: ListenerRegistration {
  private let isRemoved = Atomic(false)

  init(client: Client, settings: FirestoreSettings, _ listener: @escaping @Sendable () -> Void) {
    let queue = settings.dispatchQueue
    let signals = client.engine.snapshotsInSync()
    client.callbackTasks.start { [self] in
      for await _ in signals {
        await client.callbackListeners.settle()
        if isRemoved.load(ordering: .acquiring) { return }
        await queue.perform { [self] in
          if !isRemoved.load(ordering: .acquiring) { listener() }
        }
      }
    }
  }

  func remove() { isRemoved.store(true, ordering: .releasing) }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel

extension SyncCore {
  /// The cache turned out to be damaged while it was in use. What else in it is wrong nobody knows, so that nothing is
  /// sent or stored any more: everybody who waits for something is told, and what is asked for later fails likewise.
  /// What the cache still has whole can be read. The next start moves the damaged file aside.
  mutating func storeDamaged(_ error: LocalStoreError, _ effects: inout [SyncEffect]) {
    guard damage == nil else { return }
    let status = RPCStatus(error.code, error.message)
    damage = status
    retries = []
    effects.append(.cancel(.storeRetry))
    for entry in log.pending { effects.append(.complete(entry.batch.id, .failure(status))) }
    for (_, wait) in waits { effects.append(.finishWait(wait, status)) }
    waits = []
    for view in views.ids {
      if let target = views[view]?.target { plan.drop(target) }
      views.remove(view)
      effects.append(.fail(listeners.removeAll(of: view), status))
      for lookup in limbo.removeAll(for: view) { plan.drop(lookup) }
    }
  }
}

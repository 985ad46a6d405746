// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery

extension DashboardState {
  /// Takes the number of documents from a snapshot of the whole collection; any other snapshot only tells that it has
  /// changed.
  mutating func noteCount(of listener: ListenerRecord, _ snapshot: ListenerSnapshot) {
    if listener.isExact(whileOffline: network.isOffline) {
      browser.windows[listener.query.path]?.total = snapshot.count
      browser.recounts[listener.query.path] = nil
      return
    }
    for change in snapshot.changes where change.kind != .modified {
      browser.noteChange(in: change.document.key.collection, at: now)
    }
  }

  /// Takes a count from elsewhere, unless a listener or a window shows the whole collection: unlike a server's count
  /// these include the pending writes.
  mutating func receive(count: Int, of path: ResourcePath) {
    let listener = listenerThatCounts(path)
    let window = browser.windows[path]
    let shown = window?.isWhole == true ? window?.loaded.count : nil
    let count = listener?.count ?? shown ?? count
    if let known = window?.total, known != count { browser.hasNewsFromOthers = true }
    browser.windows[path, default: CollectionWindow(path: path)].total = max(0, count)
  }
}

extension DashboardState {
  private func listenerThatCounts(_ path: ResourcePath) -> ListenerRecord? {
    listeners.first {
      $0.query.path == path && $0.count != nil && $0.isExact(whileOffline: network.isOffline)
    }
  }

  func isCountedByListener(_ path: ResourcePath) -> Bool { listenerThatCounts(path) != nil }
}

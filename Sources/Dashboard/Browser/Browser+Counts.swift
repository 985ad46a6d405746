// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery

extension Browser {
  /// Counting a collection from the cache reads it; larger ones have to wait for the server.
  static let largestCountedOffline = 10_000

  /// Documents came or went, so that the collection has to be counted again: once a second at most, however many do.
  mutating func noteChange(in path: ResourcePath, at now: Timestamp) {
    guard windows[path]?.total != nil, recounts[path] == nil else { return }
    recounts[path] = now.advanced(seconds: 1)
  }

  var nextCount: Timestamp? { recounts.values.min() }

  /// The collections to be counted now.
  mutating func takeDueCounts(at now: Timestamp, isOffline: Bool) -> [Effect] {
    let due = recounts.filter { $0.value <= now }.keys.sorted()
    for path in due { recounts[path] = nil }
    return due.filter { !isOffline || windows[$0]?.total ?? 0 <= Self.largestCountedOffline }.map {
      .client(.count($0))
    }
  }
}

extension DashboardState {
  /// A snapshot says how many documents a collection has if it is of the whole collection; otherwise, that there are
  /// others now.
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

  /// Takes what was counted elsewhere, unless a listener knows better.
  mutating func receive(count: Int, of path: ResourcePath) {
    let listener = listeners.first {
      $0.query.path == path && $0.count != nil && $0.isExact(whileOffline: network.isOffline)
    }
    let count = listener?.count ?? count
    browser.windows[path, default: CollectionWindow(path: path)].total = max(0, count)
  }
}

extension ListenerRecord {
  /// Whether the last snapshot has all documents of a collection, as far as the client can tell now.
  fileprivate func isExact(whileOffline isOffline: Bool) -> Bool {
    failure == nil && query.matchesAllDocuments && query.collectionGroup == nil && !query.path.isDocument
      && (!isFromCache || isOffline)
  }
}

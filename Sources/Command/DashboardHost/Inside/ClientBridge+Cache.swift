// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreText

/// Documents that the user keeps in the cache, or takes out of it.
extension ClientBridge {
  func evict(_ path: ResourcePath?, olderThan age: Duration?) {
    request { bridge in
      var total = EvictionTotal()
      var paths = path.map { [$0] } ?? []
      if path == nil { paths = try await bridge.engine.cachedCollections() }
      for path in paths {
        total.add(try await bridge.engine.evict(path, olderThan: age))
      }
      bridge.emit(.notice(.info, total.account(of: path, age)))
    }
  }

  /// Removes what has outlived its collection's lifetime, and tells it if there was something.
  func expire(_ path: ResourcePath, after lifetime: Duration) {
    request { bridge in
      var total = EvictionTotal()
      total.add(try await bridge.engine.evict(path, olderThan: lifetime))
      if total.removed > 0 { bridge.emit(.notice(.info, total.account(of: path, lifetime))) }
    }
  }

  /// Listens to the cache alone: what a listener shows is never collected.
  func pin(_ query: Query) {
    guard !subscriptions.isOpen(.pin(query)) else { return }
    subscriptions.open(.pin(query), query, ListenerOptions(source: .cache)) { [weak self] element in
      guard case .failed(let status) = element else { return }
      self?.subscriptions.forget(.pin(query))
      self?.emit(.notice(.error, "\(QueryText.line(query)) is no longer kept: \(status)"))
    }
  }
}

/// The outcome of one eviction or several.
struct EvictionTotal {
  private(set) var removed = 0
  private var (listened, modified, fresh, tombstones) = (0, 0, 0, 0)

  mutating func add(_ eviction: Eviction) {
    removed += eviction.removed
    listened += eviction.listened
    modified += eviction.modified
    fresh += eviction.fresh
    tombstones += eviction.tombstones
  }

  /// The result in words: `120 documents of orders left the cache; 50 stay that are shown, listened to or pinned`.
  func account(of path: ResourcePath?, _ age: Duration?) -> String {
    func documents(_ count: Int) -> String { "\(grouped(count)) document\(count == 1 ? "" : "s")" }
    func stay(_ count: Int) -> String { "\(grouped(count)) stay\(count == 1 ? "s" : "")" }
    let isDocument = path?.isDocument == true
    let what = isDocument ? path?.text ?? "" : documents(removed) + (path.map { " of \($0.text)" } ?? "")
    let isGone = removed > 0 || !isDocument
    var parts = [isGone ? "\(what) left the cache" : "\(what) did not leave the cache"]
    if removed + listened + modified + fresh == 0, isDocument { parts = ["\(what) is not in the cache"] }
    if tombstones > 0 { parts.append("with the traces of \(grouped(tombstones)) that do not exist") }
    if listened > 0 {
      let verb = listened == 1 ? "is" : "are"
      parts.append("\(stay(listened)) that \(verb) shown, listened to or pinned")
    }
    if modified > 0 { parts.append("\(stay(modified)) with pending writes") }
    if fresh > 0, let age { parts.append("\(stay(fresh)) that the server confirmed within \(DurationText.text(age))") }
    return parts.joined(separator: "; ")
  }
}

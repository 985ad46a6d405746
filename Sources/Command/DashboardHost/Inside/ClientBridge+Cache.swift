// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// Documents that the user keeps in the cache, or takes out of it.
extension ClientBridge {
  func evict(_ path: ResourcePath) {
    request { bridge in
      let eviction = try await bridge.engine.evict(path)
      bridge.emit(.notice(.info, eviction.account(of: path)))
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

extension Eviction {
  /// The result in words: `120 documents of orders left the cache; 50 stay that are shown, listened to or pinned`.
  func account(of path: ResourcePath) -> String {
    func documents(_ count: Int) -> String { "\(grouped(count)) document\(count == 1 ? "" : "s")" }
    func stay(_ count: Int) -> String { "\(grouped(count)) stay\(count == 1 ? "s" : "")" }
    let what = path.isDocument ? path.text : "\(documents(removed)) of \(path.text)"
    let isGone = removed > 0 || !path.isDocument
    var parts = [isGone ? "\(what) left the cache" : "\(what) did not leave the cache"]
    if removed + listened + modified == 0, path.isDocument { parts = ["\(what) is not in the cache"] }
    if listened > 0 {
      let verb = listened == 1 ? "is" : "are"
      parts.append("\(stay(listened)) that \(verb) shown, listened to or pinned")
    }
    if modified > 0 { parts.append("\(stay(modified)) with pending writes") }
    return parts.joined(separator: "; ")
  }
}

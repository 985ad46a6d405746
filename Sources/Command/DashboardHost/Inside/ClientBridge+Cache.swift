// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreText

extension ClientBridge {
  func evict(_ scope: EvictionScope, olderThan age: Duration?) {
    request { bridge in
      let total = try await bridge.engine.evict(scope, olderThan: age)
      bridge.emit(.notice(.info, total.account(of: scope, age)))
    }
  }

  /// Removes what has outlived its lifetime, and tells it if there was something.
  func applyLifetimes() {
    request { bridge in
      for (retention, total) in try await bridge.engine.applyLifetimes() where total.removed > 0 {
        let what = QueryText.line(retention.target)
        let count = "\(grouped(total.removed)) document\(total.removed == 1 ? "" : "s")"
        let age = retention.lifetime.map { ", \(DurationText.text($0)) after the server confirmed them" } ?? ""
        bridge.emit(.notice(.info, "\(count) of \(what) left the cache\(age)"))
      }
    }
  }
}

extension EvictionTotal {
  /// The result in words: `120 documents of orders left the cache; 50 stay that are shown, listened to or pinned`.
  func account(of scope: EvictionScope, _ age: Duration?) -> String {
    let parts = scope.isTombstones ? [tracesAccount(of: scope.path)] : documentsAccount(of: scope)
    return (parts + reasons(age)).joined(separator: "; ")
  }

  private func tracesAccount(of path: ResourcePath?) -> String {
    let traces = tombstones == 1 ? "the trace of 1 document" : "the traces of \(grouped(tombstones)) documents"
    return traces + (path.map { " of \($0.text)" } ?? "")
      + " that \(tombstones == 1 ? "does" : "do") not exist left the cache"
  }

  private func documentsAccount(of scope: EvictionScope) -> [String] {
    let path = scope.path
    let isDocument = path?.isDocument == true
    let name: String? = if case .matching(let query) = scope { QueryText.line(query) } else { path?.text }
    let count = "\(grouped(removed)) document\(removed == 1 ? "" : "s")"
    let what = isDocument ? path?.text ?? "" : count + (name.map { " of \($0)" } ?? "")
    let isGone = removed > 0 || !isDocument
    var parts = [isGone ? "\(what) left the cache" : "\(what) did not leave the cache"]
    if removed + listened + modified + fresh == 0, isDocument { parts = ["\(what) is not in the cache"] }
    if tombstones > 0 { parts.append("with the traces of \(grouped(tombstones)) that do not exist") }
    return parts
  }

  /// The reasons of what stays.
  private func reasons(_ age: Duration?) -> [String] {
    func stay(_ count: Int) -> String { "\(grouped(count)) stay\(count == 1 ? "s" : "")" }
    var parts: [String] = []
    if listened > 0 {
      parts.append("\(stay(listened)) that \(listened == 1 ? "is" : "are") shown, listened to or pinned")
    }
    if modified > 0 { parts.append("\(stay(modified)) with pending writes") }
    if fresh > 0, let age { parts.append("\(stay(fresh)) that the server confirmed within \(DurationText.text(age))") }
    return parts
  }
}

// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText

/// Documents that are kept in the cache, or taken out of it, by hand.
extension DashboardState {
  /// The queries of what is selected; none if nothing is.
  var selectedQueries: [Query] {
    switch bundledContents {
    case .documents(let keys)?: keys.map { Query(path: $0.path) }
    case .result(let query, _)?: [query]
    case nil: []
    }
  }

  func cachedPath(_ text: String) throws(TextError) -> ResourcePath {
    do throws(ModelError) { return try ResourcePath(validating: text) } catch {
      throw TextError(column: 1, error.message)
    }
  }

  func arePinned(_ queries: [Query]) -> Bool { queries.allSatisfy(storage.pins.contains) }

  /// The queries in words.
  func pinText(_ queries: [Query]) -> String {
    queries.count == 1 ? QueryText.line(queries[0]) : "\(grouped(queries.count)) documents"
  }

  /// Keeps what the cache has of the queries' results, or no longer if all are kept.
  mutating func togglePin(_ queries: [Query]) -> [Effect] {
    if queries.isEmpty {
      toast(.info, "nothing is selected: pin PATH")
      return []
    }
    if arePinned(queries) {
      for query in queries { storage.unpin(query) }
      toast(.info, "\(pinText(queries)) may leave the cache again")
      return queries.map { .client(.unpin($0)) }
    }
    let new = queries.filter { !storage.pins.contains($0) }
    for query in new { storage.pin(query) }
    toast(.info, "pinned: what the cache has of \(pinText(queries)) stays until this session ends")
    return new.map { .client(.pin($0)) }
  }

  mutating func evictSelected() -> [Effect] {
    if let evictedPath { return evict(evictedPath) }
    toast(.info, "nothing is selected: evict PATH")
    return []
  }

  /// The path that `evict` takes if none is typed.
  var evictedPath: ResourcePath? { selectedKey?.path ?? selectedCollection }

  /// Removes a document, those of a collection, or everything from the cache; offline after a question, since they could
  /// not be brought back.
  /// - Parameter age: only what the server has not confirmed for so long.
  mutating func evict(_ path: ResourcePath?, olderThan age: Duration? = nil) -> [Effect] {
    let effect = Effect.client(.evict(path, olderThan: age))
    guard network.isOffline else { return [effect] }
    let what = path.map { $0.isDocument ? $0.text : "What is in \($0.text)" } ?? "What is in the cache"
    let old = age.map { " that is older than \(DurationText.text($0))" } ?? ""
    overlay = .confirm(
      Confirmation(
        title: "Evict", body: ["You are offline: \(what)\(old) cannot be read again before you are online."],
        action: "Evict", subject: .perform([effect])))
    return []
  }

  /// Sets the time after which documents of a collection leave the cache, or takes it away.
  mutating func setLifetime(_ lifetime: Duration?, of path: ResourcePath) -> [Effect] {
    storage.setLifetime(lifetime, of: path, at: now)
    guard let lifetime else {
      toast(.info, "\(path.text) stays in the cache, however old it gets")
      return []
    }
    toast(.info, "\(path.text) leaves the cache \(DurationText.text(lifetime)) after the server last confirmed it")
    return takeDueLifetimes()
  }

  /// The orders to take out of the cache what has outlived its time; none offline, where it could not be read again.
  mutating func takeDueLifetimes() -> [Effect] {
    guard !network.isOffline else { return [] }
    return storage.takeDueLifetimes(at: now).map { .client(.expire($0.path, after: $0.lifetime)) }
  }
}

/// The text behind `evict`: a path, and how old documents have to be.
struct EvictionText {
  /// The path; `nil` for everything.
  var path: ResourcePath?
  var age: Duration?

  /// Reads `orders`, `orders older than 2h` and `older than 2h`.
  init(_ text: String, _ state: DashboardState) throws(TextError) {
    let words = text.split(separator: " ").map(String.init)
    guard let mark = words.firstIndex(of: "older") else {
      path = try state.cachedPath(text)
      return
    }
    guard mark <= 1, words.count == mark + 3, words[mark + 1] == "than" else {
      throw TextError(column: 1, "write: PATH older than 2h")
    }
    if mark == 1 { path = try state.cachedPath(words[0]) }
    age = try DurationText.parse(words[mark + 2])
  }

  var account: String {
    let what = path.map { "take \($0.text) out of the cache" } ?? "take everything out of the cache"
    return what + (age.map { ", as far as the server has not confirmed it for \(DurationText.text($0))" } ?? "")
  }
}

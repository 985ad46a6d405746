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

  /// Removes a document, or those of a collection, from the cache; offline after a question, since they could not be
  /// brought back.
  mutating func evict(_ path: ResourcePath) -> [Effect] {
    let effect = Effect.client(.evict(path))
    guard network.isOffline else { return [effect] }
    let what = path.isDocument ? path.text : "What is in \(path.text)"
    overlay = .confirm(
      Confirmation(
        title: "Evict", body: ["You are offline: \(what) cannot be read again before you are online."],
        action: "Evict", subject: .perform([effect])))
    return []
  }
}

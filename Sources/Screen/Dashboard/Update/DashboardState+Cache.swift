// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText

/// Commands that pin documents in the cache and evict them.
extension DashboardState {
  /// The queries of the selected rows; empty if nothing is selected.
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

  func arePinned(_ queries: [Query]) -> Bool {
    queries.allSatisfy { storage.retention(of: $0.target, isPin: true) != nil }
  }

  /// The queries as text.
  func pinText(_ queries: [Query]) -> String {
    queries.count == 1 ? QueryText.line(queries[0]) : "\(grouped(queries.count)) documents"
  }

  /// Pins the cached results of the queries, or unpins them if all are pinned.
  mutating func togglePin(_ queries: [Query]) -> [Effect] {
    if queries.isEmpty {
      toast(.info, "nothing is selected: pin PATH")
      return []
    }
    if arePinned(queries) {
      toast(.info, "\(pinText(queries)) can be evicted again")
      return queries.compactMap { storage.retention(of: $0.target, isPin: true) }.map { .client(.release($0)) }
    }
    let new = queries.map(\.target).filter { storage.retention(of: $0, isPin: true) == nil }
    let end = network.isDurable ? "you unpin it" : "this session ends: the cache is in memory"
    toast(.info, "pinned: \(pinText(queries)) stays in the cache until \(end)")
    return new.map { .client(.retain(Retention($0, .pinned, since: now))) }
  }

  mutating func evictSelected() -> [Effect] {
    if let evictedPath { return evict(.path(evictedPath)) }
    toast(.info, "nothing is selected: evict PATH")
    return []
  }

  /// The path that `evict` uses by default.
  var evictedPath: ResourcePath? { selectedKey?.path ?? selectedCollection }

  /// Evicts documents from the cache. While offline, asks for confirmation first, because evicted documents could not
  /// be loaded again.
  /// - Parameter age: evicts only documents that the server has not confirmed for this long.
  mutating func evict(_ scope: EvictionScope, olderThan age: Duration? = nil) -> [Effect] {
    let effect = Effect.client(.evict(scope, olderThan: age))
    guard network.isOffline else { return [effect] }
    let what =
      switch scope {
      case .everything: "Everything in the cache"
      case .path(let path): path.isDocument ? path.text : "Everything in \(path.text)"
      case .matching(let query): "Everything in \(QueryText.line(query))"
      case .tombstones: "Information about missing documents"
      }
    let old = age.map { " that is older than \(DurationText.text($0))" } ?? ""
    overlay = .confirm(
      Confirmation(
        title: "Evict", body: ["You are offline: \(what)\(old) cannot be read again until you are online."],
        action: "Evict", subject: .perform([effect])))
    return []
  }

  /// Sets the lifetime of a query's cached documents, or removes it.
  mutating func setLifetime(_ lifetime: Duration?, of query: Query) -> [Effect] {
    let what = QueryText.line(query)
    if let lifetime {
      let end = network.isDurable ? "" : ", in this session: the cache is in memory"
      toast(.info, "\(what) is evicted \(DurationText.text(lifetime)) after its last sync\(end)")
      return [.client(.retain(Retention(query.target, .lifetime(lifetime), since: now)))]
    }
    guard let retention = storage.retention(of: query.target, isPin: false) else {
      toast(.info, "\(what) has no lifetime")
      return []
    }
    return end(retention)
  }

  /// Removes a pin or a lifetime.
  mutating func end(_ retention: Retention) -> [Effect] {
    let what = QueryText.line(retention.target)
    toast(
      .info,
      retention.kind.isPin
        ? "\(what) can be evicted again" : "\(what) stays in the cache at any age")
    return [.client(.release(retention))]
  }

  /// Stores the pins and lifetimes that the client reports.
  mutating func receive(_ retentions: [Retention]) -> [Effect] {
    storage.note(retentions, at: now)
    return takeDueLifetimes()
  }

  /// Evicts documents whose lifetime in the cache has ended. Does nothing while offline, because the documents could
  /// not be loaded again. Does nothing with another program's client, because that program manages its cache.
  mutating func takeDueLifetimes() -> [Effect] {
    guard !network.isOffline, configuration.attached == nil, storage.takeDueLifetimes(at: now) else { return [] }
    return [.client(.applyLifetimes)]
  }
}

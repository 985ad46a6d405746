// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

// Eviction by hand, pins and lifetimes.
extension SyncEngine {
  /// Removes documents from the cache, or the knowledge of those that do not exist, unless a listener, a pin or a pending
  /// write holds them; in slices, between which all other waiting work has its turn.
  /// - Parameter age: only what the server has not sent or confirmed for so long, by this machine's clock; `nil` for
  ///   everything.
  /// - Returns: what left and what stays, in all collections together.
  /// - Throws: `failed-precondition` if another client of the cache has the streams, which knows what all listen to.
  package func evict(_ scope: EvictionScope, olderThan age: Duration? = nil) async throws(RPCStatus) -> EvictionTotal {
    let bound = age.map { SnapshotVersion(now() + (Duration.zero - $0)) }
    var total = EvictionTotal()
    for part in scope.parts(of: try await cachedCollections()) {
      total.add(try await finish(Eviction(of: part.path, part.subject, unconfirmedSince: bound)))
    }
    return total
  }

  private func finish(_ begun: Eviction) async throws(RPCStatus) -> Eviction {
    var eviction = begun
    while !eviction.isFinished {
      let begun = eviction
      let next = try change { core throws(StoreError) -> Eviction? in
        guard core.store.isPrimary else { return nil }
        var next = begun
        try core.store.continueEviction(&next)
        return next
      }
      guard let next else {
        throw RPCStatus(
          .failedPrecondition, "Another program has this cache's streams, and alone takes documents out of it.")
      }
      eviction = next
      await pause()
    }
    return eviction
  }

  // MARK: Pins and lifetimes

  /// The pins and lifetimes, in the order in which they were asked for.
  package func retentions() async throws(RPCStatus) -> [Retention] {
    try change { core throws(StoreError) in try core.store.retentions() }
  }

  /// Stores a pin or a lifetime in the cache, in place of one of the same kind about the same query.
  /// - Throws: `resource-exhausted` if the cache has as many as it may have.
  package func retain(_ retention: Retention) async throws(RPCStatus) {
    try change { core throws(StoreError) in
      try core.store.set(retention)
      core.output.statusChanged()
    }
  }

  /// Takes back the pin or the lifetime of the same query.
  /// - Returns: whether there was one.
  @discardableResult
  package func release(_ retention: Retention) async throws(RPCStatus) -> Bool {
    try change { core throws(StoreError) in
      core.output.statusChanged()
      return try core.store.remove(retention)
    }
  }

  /// Removes what has outlived its lifetime. Does nothing if another client of the cache has the streams, which does it.
  /// - Returns: what left and what stays, for each lifetime.
  package func applyLifetimes() async throws(RPCStatus) -> [(retention: Retention, total: EvictionTotal)] {
    var applied: [(retention: Retention, total: EvictionTotal)] = []
    for retention in try await retentions() {
      guard let lifetime = retention.lifetime else { continue }
      let isPrimary = try change { core throws(StoreError) in core.store.isPrimary }
      guard isPrimary else { break }
      applied.append((retention, try await evict(retention.scope, olderThan: lifetime)))
    }
    return applied
  }
}

/// The documents that left a cache by hand, and those that stay, with the reasons.
package struct EvictionTotal: Sendable {
  package private(set) var removed = 0
  package private(set) var listened = 0
  package private(set) var modified = 0
  package private(set) var fresh = 0
  package private(set) var tombstones = 0

  package init() {}

  package mutating func add(_ eviction: Eviction) {
    removed += eviction.removed
    listened += eviction.listened
    modified += eviction.modified
    fresh += eviction.fresh
    tombstones += eviction.tombstones
  }
}

extension EvictionScope {
  /// The collections or documents that are meant, each with what of it.
  /// - Parameter known: all collections that the cache has seen.
  fileprivate func parts(of known: [ResourcePath]) -> [(path: ResourcePath, subject: Eviction.Subject)] {
    switch self {
    case .everything: known.map { ($0, .everything) }
    case .path(let path): [(path, .everything)]
    case .tombstones(let path): (path.map { [$0] } ?? known).map { ($0, .tombstones) }
    case .matching(let query):
      known.filter { query.containsPath(of: DocumentKey(unchecked: $0.appending("any"))) }.map {
        ($0, .documents(matching: query.target))
      }
    }
  }
}

extension Retention {
  /// A collection without conditions loses what is known of documents that do not exist as well.
  fileprivate var scope: EvictionScope {
    let isBounded = target.start != nil || target.end != nil || target.orderBy.contains { !$0.path.isDocumentID }
    let isWhole = target.filters.isEmpty && target.collectionGroup == nil && !isBounded
    let query = Query(
      path: target.path, collectionGroup: target.collectionGroup, filters: target.filters,
      explicitOrderBy: target.orderBy, start: target.start, end: target.end)
    return isWhole ? .path(target.path) : .matching(query)
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

// Manual eviction, pins and lifetimes.
extension SyncEngine {
  /// Evicts documents or tombstones that no listener, pin or pending write refers to. Other work can run between
  /// slices.
  /// - Parameter age: if not `nil`, evicts only documents that the server has neither sent nor confirmed within this
  ///   time, by this machine's clock.
  /// - Returns: the total numbers of evicted and remaining documents in all collections.
  /// - Throws: `failed-precondition` if another client of the cache runs the streams, because only that client knows
  ///   all targets.
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
          .failedPrecondition,
          "Another program has this cache's server connection. Only that program can evict documents.")
      }
      eviction = next
      await pause()
    }
    return eviction
  }

  // MARK: Pins and lifetimes

  /// The pins and lifetimes, in the order of their creation.
  package func retentions() async throws(RPCStatus) -> [Retention] {
    try change { core throws(StoreError) in try core.store.retentions() }
  }

  /// Stores a pin or a lifetime in the cache. Replaces an existing one of the same kind for the same query.
  /// - Throws: `resource-exhausted` if the cache already has the maximum number of pins and lifetimes.
  package func retain(_ retention: Retention) async throws(RPCStatus) {
    try change { core throws(StoreError) in
      try core.store.set(retention)
      core.output.statusChanged()
    }
  }

  /// Removes the pin or lifetime that has the same kind and the same query.
  /// - Returns: whether the cache had such a pin or lifetime.
  @discardableResult
  package func release(_ retention: Retention) async throws(RPCStatus) -> Bool {
    try change { core throws(StoreError) in
      core.output.statusChanged()
      return try core.store.remove(retention)
    }
  }

  /// Evicts documents whose lifetime has expired. Does nothing if another client of the cache runs the streams, because
  /// that client applies the lifetimes.
  /// - Returns: for each lifetime, the total numbers of evicted and remaining documents.
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

/// The number of evicted documents, and the numbers of remaining documents by reason.
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
  /// The collections or documents to evict, and for each of them the kind of rows to evict.
  /// - Parameter known: all known collections.
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
  /// The eviction scope with the query's documents. If the query has no conditions, the scope includes the tombstones
  /// of the collection.
  fileprivate var scope: EvictionScope {
    let isBounded = target.start != nil || target.end != nil || target.orderBy.contains { !$0.path.isDocumentID }
    let isWhole = target.filters.isEmpty && target.collectionGroup == nil && !isBounded
    let query = Query(
      path: target.path, collectionGroup: target.collectionGroup, filters: target.filters,
      explicitOrderBy: target.orderBy, start: target.start, end: target.end)
    return isWhole ? .path(target.path) : .matching(query)
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
package import FirestoreQuery
import FirestoreSQLite

// What the cache has: documents, figures over them, indexes, and its size.
extension SyncEngine {
  /// From the cache with local writes applied; `nil` when the cache knows nothing about the document.
  package func cachedDocument(_ key: DocumentKey) async throws(RPCStatus) -> Document? {
    try change { core throws(StoreError) in try core.store.document(key) }
  }

  /// From the cache with local writes applied, limits included.
  package func cachedDocuments(_ query: Query) async throws(RPCStatus) -> DocumentSet {
    try change { core throws(StoreError) in try core.cachedDocuments(query) }
  }

  /// What the backend last said, what is queued on top, and what listeners see.
  package func layers(
    of key: DocumentKey
  ) async throws(RPCStatus) -> (remote: Document?, overlay: Mutation?, local: Document?) {
    try change { core throws(StoreError) in
      (try core.store.remoteDocument(key), try core.store.overlay(of: key), try core.store.document(key))
    }
  }

  /// Collections directly below a document or the root that the cache has seen.
  package func cachedCollectionIDs(below parent: ResourcePath) async throws(RPCStatus) -> [String] {
    try change { core throws(StoreError) in try core.store.collectionIDs(below: parent) }
  }

  /// The query that a loaded bundle named; `nil` if none did.
  package func namedQuery(_ name: String) async throws(RPCStatus) -> Query? {
    try change { core throws(StoreError) in try core.store.namedQuery(name)?.query }
  }
}

extension SyncEngine {
  /// Replaces the configured indexes; documents that are cached already are indexed in slices afterwards.
  package func setIndexes(_ definitions: [FieldIndex]) async throws(RPCStatus) {
    try change { core throws(StoreError) in
      try core.store.setIndexes(definitions)
      core.statusRevision += 1
    }
  }

  /// The local indexes and how far each of them is.
  package func indexes() async throws(RPCStatus) -> [IndexState] {
    try change { core throws(StoreError) in try core.store.indexes() }
  }

  /// How many cached documents each of the local indexes knows, in their order.
  package func indexProgress() async throws(RPCStatus) -> [IndexProgress] {
    try change { core throws(StoreError) in try core.store.indexProgress() }
  }

  /// Whether queries that read many documents for few results make an index for the next time.
  package nonisolated func setIndexAutoCreation(_ isEnabled: Bool) {
    submit { engine in
      engine.transition { core in core.store.createsIndexesAutomatically = isEnabled }
    }
  }

  /// Drops all indexes, configured or automatic. What the store cannot do now is not done; queries answer the same.
  package nonisolated func deleteAllIndexes() {
    submit { engine in
      engine.transition { core in
        try? core.store.deleteAllIndexes()
        core.statusRevision += 1
      }
    }
  }

  /// What a query that is being written would find in the cache, in bounded work.
  package func preview(_ query: Query) async throws(RPCStatus) -> QueryPreview {
    try change { core throws(StoreError) in try core.preview(query) }
  }

  /// Answers a query from the cache and says how that was done, and how long it took by the engine's clock.
  package func explain(_ query: Query) async throws(RPCStatus) -> QueryExplanation {
    var outcome: Result<QueryExplanation, RPCStatus>?
    let duration = clock.measure {
      do throws(RPCStatus) {
        outcome = .success(try change { core throws(StoreError) in try core.explain(query) })
      } catch {
        outcome = .failure(error)
      }
    }
    guard var explanation = try outcome?.get() else { throw .terminated }
    explanation.duration = duration
    return explanation
  }
}

/// Figures over what the cache holds.
package struct CachedAggregate: Sendable {
  /// By alias.
  package var values: [String: Value]
  /// Whether some document that counts has local writes.
  package var hasPendingWrites: Bool
}

extension SyncEngine {
  /// Figures over the cached documents, local writes included.
  package func cachedAggregate(
    _ query: Query, _ aggregations: [Aggregation]
  ) async throws(RPCStatus) -> CachedAggregate {
    let aggregation = DocumentAggregation(query, aggregations)
    return try change { core throws(StoreError) in
      let counted = aggregation.counted(of: try core.cachedDocuments(aggregation.query).documents)
      return CachedAggregate(
        values: aggregation.values(of: counted), hasPendingWrites: counted.contains(where: \.hasLocalMutations))
    }
  }
}

extension SyncEngine {
  /// The size of the cache, and what its policy makes of it.
  package func cacheOccupancy() async throws(RPCStatus) -> CacheOccupancy {
    try change { core throws(StoreError) in try core.store.occupancy() }
  }

  /// Removes the least recently used tenth from the cache if it is as large as it may be; in slices, between which
  /// everything else that waits has its turn.
  /// - Parameter isDryRun: removes nothing and finds out what would go, whatever the size.
  /// - Returns: `nil` if the cache is smaller, or never collected this way.
  package func collectGarbage(isDryRun: Bool) async throws(RPCStatus) -> GarbageCollectionRun? {
    var run = try change { core throws(StoreError) in
      let threshold = core.configuration.garbageCollectionThreshold
      if threshold == nil, !isDryRun { return GarbageCollectionRun?.none }
      return try core.store.beginGarbageCollection(thresholdBytes: threshold ?? .max, isDryRun: isDryRun)
    }
    while let begun = run, !begun.isFinished {
      run = try change { core throws(StoreError) in
        var next = begun
        try core.store.continueGarbageCollection(&next)
        return next
      }
      await Task.yield()
    }
    return run
  }
}

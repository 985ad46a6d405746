// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
package import FirestoreQuery
import FirestoreSQLite

// The cache's content: documents, aggregates, indexes, and its size.
extension SyncEngine {
  /// The cached document, including local writes; `nil` if the document is not in the cache.
  package func cachedDocument(_ key: DocumentKey) async throws(RPCStatus) -> Document? {
    try change { core throws(StoreError) in try core.store.document(key) }
  }

  /// The cached documents that match a query, including local writes, within the query's limit.
  package func cachedDocuments(_ query: Query) async throws(RPCStatus) -> DocumentSet {
    try await cachedSnapshot(query).documents
  }

  /// The cached result of a query. A listener would receive the same result if there were no server.
  package func cachedSnapshot(_ query: Query) async throws(RPCStatus) -> ViewSnapshot {
    try change { core throws(StoreError) in try core.cachedSnapshot(query) }
  }

  /// The backend's last version of a document, its pending mutation, and the version that listeners see.
  package func layers(
    of key: DocumentKey
  ) async throws(RPCStatus) -> (remote: Document?, overlay: Mutation?, local: Document?) {
    try change { core throws(StoreError) in
      (try core.store.remoteDocument(key), try core.store.overlay(of: key), try core.store.document(key))
    }
  }

  /// The ids of the cached collections directly below a document or the root.
  package func cachedCollectionIDs(below parent: ResourcePath) async throws(RPCStatus) -> [String] {
    try change { core throws(StoreError) in try core.store.collectionIDs(below: parent) }
  }

  /// The named query of a loaded bundle; `nil` if there is none.
  package func namedQuery(_ name: String) async throws(RPCStatus) -> Query? {
    try change { core throws(StoreError) in try core.store.namedQuery(name)?.query }
  }
}

extension SyncEngine {
  /// Replaces the configured indexes. After that, cached documents are indexed in slices.
  package func setIndexes(_ definitions: [FieldIndex]) async throws(RPCStatus) {
    try change { core throws(StoreError) in
      try core.store.setIndexes(definitions)
      core.output.statusChanged()
    }
  }

  /// The local indexes, each with its state.
  package func indexes() async throws(RPCStatus) -> [IndexState] {
    try change { core throws(StoreError) in try core.store.indexes() }
  }

  /// The progress of each local index (its number of indexed documents), in the order of `indexes`.
  package func indexProgress() async throws(RPCStatus) -> [IndexProgress] {
    try change { core throws(StoreError) in try core.store.indexProgress() }
  }

  /// Sets whether queries that read many documents for few results create an index for later runs.
  package nonisolated func setIndexAutoCreation(_ isEnabled: Bool) {
    submit { engine in
      engine.transition { core in core.store.createsIndexesAutomatically = isEnabled }
    }
  }

  /// Drops all configured and automatic indexes. If the store fails, the indexes remain. In either case, query results
  /// do not change.
  package nonisolated func deleteAllIndexes() {
    submit { engine in
      engine.transition { core in
        // Errors are ignored, because remaining indexes only use space.
        try? core.store.deleteAllIndexes()
        core.output.statusChanged()
      }
    }
  }

  /// Counts the cached documents that match a query while the user is still typing it. The amount of work is limited.
  package func preview(_ query: Query) async throws(RPCStatus) -> QueryPreview {
    try change { core throws(StoreError) in try core.preview(query) }
  }

  /// Runs a query on the cache, explains its plan, and measures its time with the engine's clock.
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

/// The result of aggregating over the cached documents of a query.
package struct CachedAggregate: Sendable {
  /// The aggregated values by alias.
  package var values: [String: Value]
  /// Whether any of the aggregated documents has local writes.
  package var hasPendingWrites: Bool
}

extension SyncEngine {
  /// Aggregates over the cached documents, including local writes.
  package func cachedAggregate(
    _ query: Query, _ aggregations: [Aggregation]
  ) async throws(RPCStatus) -> CachedAggregate {
    let aggregation = DocumentAggregation(query, aggregations)
    return try change { core throws(StoreError) in
      let counted = aggregation.counted(of: try core.cachedSnapshot(aggregation.query).documents.documents)
      return CachedAggregate(
        values: aggregation.values(of: counted), hasPendingWrites: counted.contains(where: \.hasLocalMutations))
    }
  }
}

extension SyncEngine {
  /// The size of the cache, and the policy that limits it.
  package func cacheOccupancy() async throws(RPCStatus) -> CacheOccupancy {
    try change { core throws(StoreError) in try core.store.occupancy() }
  }

  /// The next page of cached documents, in the backend's version. Other work can run between two pages.
  package nonisolated func nextPage(_ pages: inout CachePages) async throws(RPCStatus) -> [CachedDocument] {
    let (next, documents) = try await page(after: pages)
    pages = next
    return documents
  }

  private func page(after pages: CachePages) async throws(RPCStatus) -> (CachePages, [CachedDocument]) {
    try change { core throws(StoreError) in
      var next = pages
      let documents = try core.store.nextPage(&next)
      return (next, documents)
    }
  }

  /// The paths of all collections in the cache.
  package func cachedCollections() async throws(RPCStatus) -> [ResourcePath] {
    try change { core throws(StoreError) in try core.store.collectionPaths() }
  }

  /// Evicts the least recently used 10 % of the cache if the cache exceeds its limit. Other work can run between
  /// slices.
  /// - Parameter isDryRun: whether to determine what would be evicted, without evicting it. A dry run ignores the
  ///   cache's size.
  /// - Returns: `nil` if the cache is smaller than its limit, or if its policy is not `leastRecentlyUsed`.
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
      await pause()
    }
    return run
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
package import FirestoreQuery
import FirestoreSQLite

// The cache's content: documents, figures over them, indexes, and its size.
extension SyncEngine {
  /// The cached document with local writes applied; `nil` when the cache knows nothing about the document.
  package func cachedDocument(_ key: DocumentKey) async throws(RPCStatus) -> Document? {
    try change { core throws(StoreError) in try core.store.document(key) }
  }

  /// The cached documents of a query with local writes applied, limits included.
  package func cachedDocuments(_ query: Query) async throws(RPCStatus) -> DocumentSet {
    try await cachedSnapshot(query).documents
  }

  /// The cache's result of a query as a listener without a server would get it.
  package func cachedSnapshot(_ query: Query) async throws(RPCStatus) -> ViewSnapshot {
    try change { core throws(StoreError) in try core.cachedSnapshot(query) }
  }

  /// The backend's last version of a document, the pending mutation on top of it, and the document that listeners see.
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
      core.output.statusChanged()
    }
  }

  /// The local indexes with the state of each.
  package func indexes() async throws(RPCStatus) -> [IndexState] {
    try change { core throws(StoreError) in try core.store.indexes() }
  }

  /// The number of cached documents that each of the local indexes knows, in their order.
  package func indexProgress() async throws(RPCStatus) -> [IndexProgress] {
    try change { core throws(StoreError) in try core.store.indexProgress() }
  }

  /// Whether queries that read many documents for few results make an index for the next time.
  package nonisolated func setIndexAutoCreation(_ isEnabled: Bool) {
    submit { engine in
      engine.transition { core in core.store.createsIndexesAutomatically = isEnabled }
    }
  }

  /// Drops all indexes, configured or automatic. If the store cannot do so now, they stay; queries answer the same.
  package nonisolated func deleteAllIndexes() {
    submit { engine in
      engine.transition { core in
        // Indexes that stay cost room and change no answer.
        try? core.store.deleteAllIndexes()
        core.output.statusChanged()
      }
    }
  }

  /// The documents that a query still being written would find in the cache, in bounded work.
  package func preview(_ query: Query) async throws(RPCStatus) -> QueryPreview {
    try change { core throws(StoreError) in try core.preview(query) }
  }

  /// Answers a query from the cache and explains the way of the answer, with its time by the engine's clock.
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

/// Figures over the cached documents of a query.
package struct CachedAggregate: Sendable {
  /// The figures, by alias.
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
      let counted = aggregation.counted(of: try core.cachedSnapshot(aggregation.query).documents.documents)
      return CachedAggregate(
        values: aggregation.values(of: counted), hasPendingWrites: counted.contains(where: \.hasLocalMutations))
    }
  }
}

extension SyncEngine {
  /// The size of the cache, and the policy that bounds it.
  package func cacheOccupancy() async throws(RPCStatus) -> CacheOccupancy {
    try change { core throws(StoreError) in try core.store.occupancy() }
  }

  /// The next documents that the cache has, as the backend had them; between two pages other waiting work has its turn.
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

  /// The paths of all collections that the cache has seen.
  package func cachedCollections() async throws(RPCStatus) -> [ResourcePath] {
    try change { core throws(StoreError) in try core.store.collectionPaths() }
  }

  /// Removes the least recently used tenth from the cache if it is as large as it may be; in slices, between which all
  /// other waiting work has its turn.
  /// - Parameter isDryRun: whether to remove nothing and find out what would be removed, whatever the size.
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
      await pause()
    }
    return run
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
import FirestoreModel
package import FirestoreQuery
package import FirestoreSQLite

extension SyncCore {
  /// The query's cached result, including local writes and within the query's limit.
  mutating func cachedSnapshot(_ query: Query) throws(StoreError) -> ViewSnapshot {
    snapshot(of: query, in: try store.execute(query, usingPreviousResults: true))
  }

  /// The documents of the result, in the query's order and within its limit.
  func snapshot(of query: Query, in result: consuming QueryResult) -> ViewSnapshot {
    let view = View(
      query: query, documents: result.takeMatches(), syncedKeys: result.remoteKeys, hasCachedResults: false,
      readTime: nil)
    return view.snapshot(causes: [])
  }

  /// Runs a query on the cache and explains its plan.
  package mutating func explain(_ query: Query) throws(StoreError) -> QueryExplanation {
    let result = try store.execute(query, usingPreviousResults: true)
    let documents = snapshot(of: query, in: result).documents
    let existing = try store.indexes()
    let isBuilding = existing.contains { $0.backfill != nil }
    let missing = missingIndexes(of: query, among: existing)
    return QueryExplanation(
      query: query, plan: result.plan, indexes: result.indexes, documentsScanned: result.documentsScanned,
      entriesRead: result.entriesRead, documentsReturned: documents.count, duration: .zero,
      suggestedIndexes: result.plan == .scan ? missing : [], isBuildingIndexes: isBuilding)
  }

  /// The indexes that would help the query but do not exist. Omits existing indexes. The query did not use them because
  /// they are incomplete or would not read fewer documents than a scan.
  private func missingIndexes(of query: Query, among existing: [IndexState]) -> [FieldIndex] {
    FieldIndex.answering(query).filter { wanted in
      !existing.contains { $0.definition.isEquivalent(to: wanted) }
    }
  }

  /// The maximum number of documents that a preview reads. Reading them takes a few milliseconds.
  private static let mostPreviewed = 10_000

  /// Counts the documents that match a query, if that takes at most a few milliseconds. Never creates an index.
  package mutating func preview(_ query: Query) throws(StoreError) -> QueryPreview {
    let extent = try store.extent(of: query)
    guard extent <= Self.mostPreviewed else {
      let missing = missingIndexes(of: query, among: try store.indexes())
      return QueryPreview(query: query, count: nil, suggestedIndexes: missing, documentsToScan: extent)
    }
    let makesIndexes = store.createsIndexesAutomatically
    store.createsIndexesAutomatically = false
    defer { store.createsIndexesAutomatically = makesIndexes }
    let explanation = try explain(query)
    return QueryPreview(
      query: query, count: explanation.documentsReturned, suggestedIndexes: explanation.suggestedIndexes,
      documentsToScan: explanation.documentsScanned)
  }
}

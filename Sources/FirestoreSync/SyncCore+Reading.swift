// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreQuery

extension SyncCore {
  /// The query's result as the cache has it, local writes applied and the limit observed.
  mutating func cachedDocuments(_ query: Query) throws(LocalStoreError) -> DocumentSet {
    documents(of: query, in: try store.execute(query, usingPreviousResults: true))
  }

  /// The result in the query's order, the limit observed.
  func documents(of query: Query, in result: consuming QueryResult) -> DocumentSet {
    let view = View(
      query: query, documents: result.takeMatches(), syncedKeys: result.remoteKeys, hasCachedResults: false,
      readTime: nil)
    return view.snapshot(causes: []).documents
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
package import FirestoreModel
package import FirestoreQuery

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
    return try change { core throws(LocalStoreError) in
      let counted = aggregation.counted(of: try core.cachedDocuments(aggregation.query).documents)
      return CachedAggregate(
        values: aggregation.values(of: counted), hasPendingWrites: counted.contains(where: \.hasLocalMutations))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
package import FirestoreQuery

extension SyncEngine {
  /// Replaces the configured indexes; documents that are cached already are indexed in slices afterwards.
  package func setIndexes(_ definitions: [FieldIndex]) async throws(RPCStatus) {
    try change { core throws(LocalStoreError) in
      try core.store.setIndexes(definitions)
      core.statusRevision += 1
    }
  }

  /// The local indexes and how far each of them is.
  package func indexes() async throws(RPCStatus) -> [IndexState] {
    try change { core throws(LocalStoreError) in try core.store.indexes() }
  }

  /// How many cached documents each of the local indexes knows, in their order.
  package func indexProgress() async throws(RPCStatus) -> [IndexProgress] {
    try change { core throws(LocalStoreError) in try core.store.indexProgress() }
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

  /// Answers a query from the cache and says how that was done, and how long it took by the engine's clock.
  package func explain(_ query: Query) async throws(RPCStatus) -> QueryExplanation {
    var outcome: Result<QueryExplanation, RPCStatus>?
    let duration = clock.measure {
      do throws(RPCStatus) {
        outcome = .success(try change { core throws(LocalStoreError) in try core.explain(query) })
      } catch {
        outcome = .failure(error)
      }
    }
    guard var explanation = try outcome?.get() else { throw .terminated }
    explanation.duration = duration
    return explanation
  }
}

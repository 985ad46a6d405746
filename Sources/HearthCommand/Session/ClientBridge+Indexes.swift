// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync

import struct Hearth.QueryExplanation

extension ClientBridge {
  func explain(_ query: Query) {
    request { bridge in
      let result: Result<CacheExplanation, RPCStatus>
      do throws(RPCStatus) {
        result = .success(CacheExplanation(QueryExplanation(try await bridge.engine.explain(query))))
      } catch {
        result = .failure(error)
      }
      bridge.emit(.explained(query, result))
    }
  }

  /// Adds what would spare reading the whole collection for a query to the configured indexes.
  func createIndexes(for query: Query) {
    request { bridge in
      let configured = try await bridge.engine.indexes().filter { !$0.isAutomatic }.map(\.definition)
      try await bridge.engine.setIndexes(configured + FieldIndex.answering(query))
    }
  }
}

extension CacheExplanation {
  init(_ explanation: QueryExplanation) {
    self.init(
      plan: explanation.planText, indexes: explanation.indexes.map(\.description),
      documentsScanned: explanation.documentsScanned, entriesRead: explanation.indexEntriesRead,
      documentsReturned: explanation.documentsReturned, duration: explanation.duration,
      suggestions: explanation.suggestedIndexes.map(\.description),
      isBuildingIndexes: explanation.isBuildingIndexes)
  }
}

extension LocalIndexRow {
  init(_ state: IndexState) {
    self.init(
      "\(state.definition)", isAutomatic: state.isAutomatic,
      progress: state.backfill.map { Progress(done: $0.documentsIndexed, total: $0.documentsTotal) })
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

/// A stored batch and the local views of the documents it names.
package struct LocalWriteResult: Sendable {
  /// The batch as it was stored, base mutations included.
  package var batch: MutationBatch
  package var changes: [DocumentKey: Document]
  /// Batches of other clients that came before the stored one and are not known here yet.
  package var others: [MutationBatch] = []

  package var batchID: BatchID { batch.id }
}

package struct QueryResult: Sendable {
  /// Local views that match, each once and in no order. For a limit query at least the first `limit` of them, perhaps
  /// more.
  package var matches: [Document]
  /// The hint of each match's id, if all are of one collection; empty if they are not known.
  package var hints: [KeyHint] = []
  /// The keys of the documents that belong to the query's target, as the backend last said.
  package var remoteKeys: Set<DocumentKey>
  /// The way in which the documents were found.
  package var plan: QueryPlan
  /// The number of stored documents that were compared with the query; those with pending writes are not counted.
  package var documentsScanned = 0
  /// The number of index entries that were read.
  package var entriesRead = 0
  /// The work of each index that was used; empty unless the plan is `index`.
  package var indexes: [IndexUse] = []

  /// Takes the matches out, so that they can be sorted without a copy.
  package mutating func takeMatches() -> [Document] {
    var taken: [Document] = []
    swap(&taken, &matches)
    return taken
  }

  /// The matches by key; O(matches) each time.
  package var documents: [DocumentKey: Document] {
    Dictionary(uniqueKeysWithValues: matches.lazy.map { ($0.key, $0) })
  }
}

/// The change of one view that raised a snapshot.
package struct LocalViewChanges: Sendable {
  package var targetID: TargetID
  package var isFromCache: Bool
  /// Whether documents unknown to the backend take places in a full limit, and may keep out others that would be in
  /// limbo if they were seen.
  package var hidesDocuments: Bool
  package var added: [DocumentKey]
  package var removed: Set<DocumentKey>

  package init(
    targetID: TargetID, isFromCache: Bool, hidesDocuments: Bool = false, added: [DocumentKey],
    removed: Set<DocumentKey>
  ) {
    self.targetID = targetID
    self.isFromCache = isFromCache
    self.hidesDocuments = hidesDocuments
    self.added = added
    self.removed = removed
  }
}

package struct UserChangeResult: Sendable {
  /// Documents whose local view may have changed because another mutation queue applies.
  package var affected: [DocumentKey: Document]
  package var removedBatches: [BatchID]
  package var addedBatches: [MutationBatch]
}

/// The outcome of one run of the garbage collector.
package struct GarbageCollectionResult: Hashable, Sendable {
  package var didRun: Bool
  package var sequenceNumbersCollected: Int
  package var targetsRemoved: Int
  package var documentsRemoved: Int

  package static let skipped = GarbageCollectionResult(
    didRun: false, sequenceNumbersCollected: 0, targetsRemoved: 0, documentsRemoved: 0)
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRemote

/// Collects the least recently used targets and the documents that belong to none (SDK: LruGarbageCollector).
struct LRUCollector {
  let database: CacheDatabase
  let activeTargets: Set<TargetID>
  let pins: [TargetID: Set<DocumentKey>]
  let limboReferences: [TargetID: Set<DocumentKey>]

  /// Documents that belong to no target.
  private struct Orphan {
    var sequenceNumber: Int64
    var number: DocumentTable.Number
  }

  /// - Parameters:
  ///   - percentile: how many of a hundred sequence numbers to collect.
  ///   - maximum: never more sequence numbers than this in one run.
  /// - Precondition: inside a transaction.
  func collect(percentile: Int, maximum: Int) throws(LocalStoreError) -> CollectionResult {
    let orphans = try orphans()
    let sequenceNumbers = (try database.targets.sequenceNumbers() + orphans.map(\.sequenceNumber)).sorted()
    let collected = min(sequenceNumbers.count * max(0, min(percentile, 100)) / 100, maximum)
    guard collected > 0 else {
      return CollectionResult(didRun: true, sequenceNumbersCollected: 0, targetsRemoved: 0, documentsRemoved: 0)
    }
    let bound = sequenceNumbers[collected - 1]
    let targets = try database.targets.ids(upToSequenceNumber: bound).filter { !activeTargets.contains($0) }
    for id in targets { try database.targets.remove(id) }
    // The targets' documents are orphans now.
    let candidates = targets.isEmpty ? orphans : try self.orphans()
    let removed = try remove(candidates.filter { $0.sequenceNumber <= bound })
    return CollectionResult(
      didRun: true, sequenceNumbersCollected: collected, targetsRemoved: targets.count, documentsRemoved: removed)
  }

  private func orphans() throws(LocalStoreError) -> [Orphan] {
    var members: Set<DocumentTable.Number> = []
    try database.connection.prepareOnce("SELECT DISTINCT document FROM target_documents")
      .forEachRow { members.insert($0.integer(0)) }
    var orphans: [Orphan] = []
    try database.connection.prepareOnce(
      "SELECT id, sequence_number FROM documents INDEXED BY documents_by_read_time"
    ).forEachRow { row in
      let number = row.integer(0)
      if !members.contains(number) { orphans.append(Orphan(sequenceNumber: row.integer(1), number: number)) }
    }
    return orphans
  }

  /// - Returns: how many of the documents nothing else refers to; these are removed.
  private func remove(_ orphans: [Orphan]) throws(LocalStoreError) -> Int {
    let kept = try referenced()
    var removed = 0
    // Neighbours share pages.
    for number in orphans.map(\.number).sorted() where !kept.contains(number) {
      try database.documents.remove(number)
      removed += 1
    }
    return removed
  }

  /// Documents that pending writes, views or look-ups refer to.
  private func referenced() throws(LocalStoreError) -> Set<DocumentTable.Number> {
    var numbers: Set<DocumentTable.Number> = []
    try database.connection.prepareOnce(
      """
      SELECT DISTINCT documents.id FROM batch_documents JOIN documents
      ON documents.collection = batch_documents.collection AND documents.name = batch_documents.name
      """
    ).forEachRow { numbers.insert($0.integer(0)) }
    for keys in [pins, limboReferences].flatMap(\.values) {
      for key in keys {
        guard let collection = try database.collections.number(of: key.collection),
          let header = try database.documents.header(collection, key.documentID)
        else { continue }
        numbers.insert(header.number)
      }
    }
    return numbers
  }
}

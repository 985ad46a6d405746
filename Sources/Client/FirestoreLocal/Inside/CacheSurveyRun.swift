// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
package import FirestoreSQLite

/// The counting of a cache's documents by collection, in slices between which the cache may be used and changed: the
/// figures of a cache that changes meanwhile are those of no one moment.
package struct CacheSurveyRun: Sendable {
  struct Tally: Sendable {
    var documents = 0
    var names = 0
    var bytes: Int64 = 0
  }

  /// The rows between two looks at the clock; they take about half a millisecond.
  static let piece = 1_000

  var last: DocumentNumber?
  var tallies: [CollectionNumber: Tally] = [:]
  var pacer: SlicePacer
  package internal(set) var isFinished = false
}

extension LocalStore {
  /// Begins to count the cache's documents.
  package func beginSurvey(pacer: SlicePacer = .continuous) -> CacheSurveyRun { CacheSurveyRun(pacer: pacer) }

  /// Does the next slice of a survey: some milliseconds of reading.
  package func continueSurvey(_ run: inout CacheSurveyRun) throws(StoreError) {
    var next = run
    next.pacer.begin(isWriting: false)
    try database.read { () throws(StoreError) in
      repeat { try database.documents.survey(&next) } while !next.isFinished && !next.pacer.isOver()
    }
    run = next
  }

  /// The things that a garbage collection would take, the least recently used first.
  package func victims(of plan: GarbageCollectionPlan) -> [CacheSurvey.Victim] {
    let results = plan.targets.sorted { $0.sequenceNumber < $1.sequenceNumber }.prefix(ClientInside.listed).map {
      CacheSurvey.Victim(.result($0.target, documents: $0.documents), lastUse: $0.sequenceNumber)
    }
    let documents = plan.oldest.map {
      CacheSurvey.Victim(.document($0.key, bytes: $0.bytes), lastUse: $0.sequenceNumber)
    }
    return (results + documents).sorted { $0.lastUse < $1.lastUse }
  }

  /// The collections that a survey found.
  /// - Parameter leaving: the documents that a garbage collection would take.
  package func shares(
    of run: CacheSurveyRun, leaving: GarbageCollectionPlan
  ) throws(StoreError) -> [CacheSurvey.Share] {
    let database = database
    let coverage = try coverage()
    return try database.read { () throws(StoreError) in
      var shares: [CacheSurvey.Share] = []
      for (collection, tally) in run.tallies {
        let part = leaving.parts[collection] ?? GarbageCollectionPlan.Part()
        let path = try database.collections.path(of: collection)
        shares.append(
          CacheSurvey.Share(
            path: path, documents: tally.documents, names: tally.names, bytes: tally.bytes,
            leavingDocuments: part.documents, leavingBytes: part.bytes,
            coverage: coverage[path] ?? CacheSurvey.Coverage()))
      }
      return shares
    }
  }
}

extension DocumentTable {
  /// Counts the next piece of rows.
  fileprivate func survey(_ run: inout CacheSurveyRun) throws(StoreError) {
    var (last, count, tallies) = (run.last, 0, run.tallies)
    try connection.forEachRow(
      """
      SELECT id, state, length(name) + ifnull(length(fields), 0) FROM documents WHERE id > ? ORDER BY id LIMIT ?
      """, last?.rawValue ?? .min, CacheSurveyRun.piece
    ) { row throws(StoreError) in
      let number: DocumentNumber = row.number(0)
      if try State(stored: row.integer(1)).isFound {
        tallies[number.collection, default: CacheSurveyRun.Tally()].documents += 1
      } else {
        tallies[number.collection, default: CacheSurveyRun.Tally()].names += 1
      }
      tallies[number.collection]?.bytes += row.integer(2)
      last = number
      count += 1
    }
    run.last = last
    run.tallies = tallies
    run.isFinished = count < CacheSurveyRun.piece
  }
}

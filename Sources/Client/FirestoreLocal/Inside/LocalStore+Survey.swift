// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
package import FirestoreSQLite

/// The results of a survey.
extension LocalStore {
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
            path: path, documents: tally.documents, names: tally.names, bytes: tally.bytes, overlays: tally.overlays,
            leavingDocuments: part.documents, leavingBytes: part.bytes,
            coverage: coverage[path] ?? CacheSurvey.Coverage()))
      }
      return shares
    }
  }

  /// The indexes and tables that a survey found.
  package func contents(of run: CacheSurveyRun) throws(StoreError) -> CacheContents {
    let database = database
    return try database.read { () throws(StoreError) in
      let backfill = IndexBackfill(database: database)
      var indexes: [CacheContents.Index] = []
      var left = run.entries
      for index in try database.indexes.indexes {
        let amount = left.removeValue(forKey: index.number) ?? CacheSurveyRun.Amount()
        let state = IndexState(
          definition: index.definition, isAutomatic: index.origin == .automatic,
          backfill: index.isReady ? nil : try backfill.progress(of: index))
        indexes.append(CacheContents.Index(state, entries: amount.rows, bytes: amount.bytes))
      }
      let documents = run.tallies.values.reduce(into: CacheSurveyRun.Amount()) { sum, tally in
        sum.rows += tally.documents + tally.names
        sum.bytes &+= tally.bytes
      }
      let entries = run.entries.values.reduce(into: CacheSurveyRun.Amount()) { sum, amount in
        sum.rows += amount.rows
        sum.bytes &+= amount.bytes
      }
      let tables = [
        CacheContents.Table("documents", rows: documents.rows, bytes: documents.bytes),
        CacheContents.Table("pending_documents", rows: run.pending.rows, bytes: run.pending.bytes),
        CacheContents.Table(
          "target_documents", rows: run.members, bytes: Int64(run.members) * CacheDatabase.numberBytes),
        CacheContents.Table("index_entries", rows: entries.rows, bytes: entries.bytes),
      ]
      let pages = try database.pages()
      return CacheContents(
        indexes: indexes, droppedEntries: left.values.reduce(0) { $0 + $1.rows },
        tables: (tables + run.rest).filter { $0.rows > 0 }, pageCount: pages.count, pageBytes: pages.size,
        logBytes: database.logByteSize, checksums: try database.checksums())
    }
  }

  /// The things that a garbage collection would take, the least recently used first.
  package func victims(of plan: GarbageCollectionPlan) -> [CacheSurvey.Victim] {
    let results = plan.targets.sorted { $0.sequenceNumber < $1.sequenceNumber }.prefix(ClientInside.listed).map {
      CacheSurvey.Victim(
        .result($0.target, documents: $0.documents), lastUse: $0.sequenceNumber, confirmed: $0.confirmed?.timestamp)
    }
    let documents = plan.oldest.map {
      CacheSurvey.Victim(
        .document($0.key, bytes: $0.bytes), lastUse: $0.sequenceNumber,
        confirmed: $0.confirmed.microseconds > 0 ? $0.confirmed.timestamp : nil)
    }
    return (results + documents).sorted { $0.lastUse < $1.lastUse }
  }

  /// The size of the cache and of its pages that hold nothing, and the number of its targets. O(targets).
  package func extent() throws(StoreError) -> (bytes: Int64, freeBytes: Int64, targets: Int) {
    let database = database
    return try database.read { () throws(StoreError) in
      (try database.byteSize(), try database.freeByteSize(), try database.targets.count())
    }
  }
}

extension CacheDatabase {
  /// The state of the pages' checksums: every page that is read is compared, and damage that was met is noted.
  fileprivate func checksums() throws(StoreError) -> CacheContents.Checksums {
    guard let path else { return .unneeded }
    if DatabaseFiles(path: path).isMarkedDamaged { return .damaged }
    return .intact
  }
}

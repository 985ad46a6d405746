// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
package import FirestoreSQLite

/// Counts a cache's documents by collection, its index entries by index, and the rows of its other tables. Works in
/// slices. Between slices the cache may be used and changed, so the counts of a cache in use do not describe one
/// consistent state.
///
///     documents ─► pending ─► members ─► entries ─► rest ─► done
package struct CacheSurveyRun: Sendable {
  struct Tally: Sendable {
    var documents = 0
    var names = 0
    var bytes: Int64 = 0
    /// The number of documents with an overlay of any user.
    var overlays = 0
  }

  /// A row count and the total size of these rows.
  struct Amount: Sendable {
    var rows = 0
    var bytes: Int64 = 0

    mutating func add(_ bytes: Int64) {
      rows += 1
      self.bytes &+= bytes
    }
  }

  enum Phase: Sendable {
    case documents(after: DocumentNumber?)
    /// Pending writes and overlays, by document.
    case pending(after: PendingRow?)
    /// The entries that assign documents to targets.
    case members(after: TargetCache.Membership?)
    case entries(after: IndexEntry?)
    /// The other tables, one after the other. They are small, or their rows can be counted without reading each one.
    case rest(Int)
    case done
  }

  /// The position in the table of pending writes and overlays, which is ordered by document.
  struct PendingRow: Sendable {
    var collection: CollectionNumber
    var name: String
    var user: Int64
    var batch: Int64
  }

  /// The position of an entry among the entries of all indexes.
  struct IndexEntry: Sendable {
    var index: IndexNumber
    var collection: CollectionNumber
    var value: [UInt8]
    var document: Int64
  }

  /// The number of rows that are read before the clock is checked again. Reading them takes about 0.5 ms.
  static let piece = 1_000

  var phase = Phase.documents(after: nil)
  var tallies: [CollectionNumber: Tally] = [:]
  var pending = Amount()
  /// The last document for which an overlay was counted. If several users have an overlay for a document, it is counted
  /// only once.
  var lastOverlay: (collection: CollectionNumber, name: String)?
  var members = 0
  var entries: [IndexNumber: Amount] = [:]
  var rest: [CacheContents.Table] = []
  var pacer: SlicePacer

  init(pacer: SlicePacer) { self.pacer = pacer }

  package var isFinished: Bool { if case .done = phase { true } else { false } }
}

extension LocalStore {
  package func beginSurvey(pacer: SlicePacer = .continuous) -> CacheSurveyRun { CacheSurveyRun(pacer: pacer) }

  /// Performs the next slice of a survey. A slice reads for a few milliseconds.
  package func continueSurvey(_ run: inout CacheSurveyRun) throws(StoreError) {
    var next = run
    next.pacer.begin(isWriting: false)
    try database.read { () throws(StoreError) in
      repeat { try database.survey(&next) } while !next.isFinished && !next.pacer.isOver()
    }
    run = next
  }
}

extension CacheDatabase {
  /// Counts the next `piece` of rows.
  fileprivate func survey(_ run: inout CacheSurveyRun) throws(StoreError) {
    switch run.phase {
    case .documents(let last): try countDocuments(&run, after: last)
    case .pending(let last): try countPending(&run, after: last)
    case .members(let last): try countMembers(&run, after: last)
    case .entries(let last): try countEntries(&run, after: last)
    case .rest(let index):
      let tables = Self.otherTables + (sharing == nil ? [] : Self.sharingTables)
      guard tables.indices.contains(index) else {
        run.phase = .done
        return
      }
      let (name, bytes) = tables[index]
      try connection.forEachRow(composed: "SELECT count(*), \(bytes) FROM \(name)") { row in
        run.rest.append(CacheContents.Table(name, rows: Int(row.integer(0)), bytes: row.optionalInteger(1)))
      }
      run.phase = .rest(index + 1)
    case .done: break
    }
  }

  /// The tables that are each counted in one step, with the SQL expression for the size of a row.
  private static let otherTables = [
    ("mutation_batches", "sum(length(batch))"), ("rejected_writes", "sum(byte_count)"),
    ("targets", "sum(length(canonical_id) + length(target) + ifnull(length(resume_token), 0))"),
    ("collection_parents", "sum(length(path) + length(parent) + length(collection_id))"),
    ("index_configuration", "sum(length(definition))"), ("retentions", "sum(length(canonical_id) + length(target))"),
    ("bundles", "NULL"), ("named_queries", "NULL"), ("users", "NULL"), ("globals", "NULL"), ("index_tails", "NULL"),
  ]

  /// The tables that only a shared cache has.
  private static let sharingTables = [
    ("sharing_clients", "NULL"), ("sharing_targets", "NULL"), ("sharing_target_states", "NULL"),
    ("sharing_notices", "sum(length(content))"),
  ]

  private func countDocuments(_ run: inout CacheSurveyRun, after position: DocumentNumber?) throws(StoreError) {
    var (last, count) = (position, 0)
    try connection.forEachRow(
      """
      SELECT id, state, length(name) + ifnull(length(fields), 0) FROM documents WHERE id > ? ORDER BY id LIMIT ?
      """, position?.rawValue ?? .min, CacheSurveyRun.piece
    ) { row throws(StoreError) in
      let number: DocumentNumber = row.number(0)
      if try DocumentTable.State(stored: row.integer(1)).isFound {
        run.tallies[number.collection, default: CacheSurveyRun.Tally()].documents += 1
      } else {
        run.tallies[number.collection, default: CacheSurveyRun.Tally()].names += 1
      }
      run.tallies[number.collection]?.bytes += row.integer(2)
      last = number
      count += 1
    }
    run.phase = count < CacheSurveyRun.piece ? .pending(after: nil) : .documents(after: last)
  }

  private func countPending(
    _ run: inout CacheSurveyRun, after position: CacheSurveyRun.PendingRow?
  ) throws(StoreError) {
    var (last, count) = (position, 0)
    try connection.forEachRow(
      """
      SELECT collection, name, user, batch, length(name) + ifnull(length(mutation), 0) + ifnull(length(origin), 0)
      FROM pending_documents WHERE (collection, name, user, batch) > (?, ?, ?, ?)
      ORDER BY collection, name, user, batch LIMIT ?
      """, position?.collection.rawValue ?? .min, position?.name ?? "", position?.user ?? .min,
      position?.batch ?? .min, CacheSurveyRun.piece
    ) { row in
      let place = CacheSurveyRun.PendingRow(
        collection: row.number(0), name: row.text(1), user: row.integer(2), batch: row.integer(3))
      run.pending.add(row.integer(4))
      // The row with batch 0 is the overlay.
      let isSame = run.lastOverlay.map { $0.collection == place.collection && $0.name.equalsUTF8(place.name) } ?? false
      if place.batch == 0, !isSame {
        run.tallies[place.collection, default: CacheSurveyRun.Tally()].overlays += 1
        run.lastOverlay = (place.collection, place.name)
      }
      last = place
      count += 1
    }
    run.phase = count < CacheSurveyRun.piece ? .members(after: nil) : .pending(after: last)
  }

  private func countMembers(
    _ run: inout CacheSurveyRun, after position: TargetCache.Membership?
  ) throws(StoreError) {
    var (last, count) = (position, 0)
    try targets.scanMembership(after: position, limit: CacheSurveyRun.piece) { membership in
      last = membership
      count += 1
    }
    run.members += count
    run.phase = count < CacheSurveyRun.piece ? .entries(after: nil) : .members(after: last)
  }

  private func countEntries(_ run: inout CacheSurveyRun, after position: CacheSurveyRun.IndexEntry?) throws(StoreError)
  {
    var (last, count) = (position, 0)
    try connection.forEachRow(
      """
      SELECT index_id, collection, value, document FROM index_entries
      WHERE (index_id, collection, value, document) > (?, ?, ?, ?)
      ORDER BY index_id, collection, value, document LIMIT ?
      """, position?.index.rawValue ?? .min, position?.collection.rawValue ?? .min, position?.value ?? [],
      position?.document ?? .min, CacheSurveyRun.piece
    ) { row in
      let entry = CacheSurveyRun.IndexEntry(
        index: row.number(0), collection: row.number(1), value: row.blob(2), document: row.integer(3))
      run.entries[entry.index, default: CacheSurveyRun.Amount()].add(Int64(entry.value.count) + Self.numberBytes)
      last = entry
      count += 1
    }
    run.phase = count < CacheSurveyRun.piece ? .rest(0) : .entries(after: last)
  }

  /// The approximate size in bytes of a row that assigns a document to a target, or of an index entry without its
  /// value. SQLite stores small numbers in few bytes.
  static let numberBytes: Int64 = 8
}

/// The results of a survey.
extension LocalStore {
  /// The part of the cache that each collection occupies, according to the survey.
  /// - Parameter leaving: the documents that a garbage collection would remove.
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

  /// The indexes and tables that the survey found.
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

  /// The targets and documents that a garbage collection would evict, least recently used first.
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

  /// The size of the cache, the size of its free pages, and the number of its targets. Takes O(targets) time.
  package func extent() throws(StoreError) -> (bytes: Int64, freeBytes: Int64, targets: Int) {
    let database = database
    return try database.read { () throws(StoreError) in
      (try database.byteSize(), try database.freeByteSize(), try database.targets.count())
    }
  }
}

extension CacheDatabase {
  /// The state of the page checksums. SQLite verifies every page that it reads, and the cache records damage that
  /// SQLite finds.
  fileprivate func checksums() throws(StoreError) -> CacheContents.Checksums {
    guard let path else { return .unneeded }
    if DatabaseFiles(path: path).isMarkedDamaged { return .damaged }
    return .intact
  }
}

extension LocalStore {
  /// The complete query results in the cache, by collection. They are results of current and former listeners. Takes
  /// O(results) time.
  package func coverage() throws(StoreError) -> [ResourcePath: CacheSurvey.Coverage] {
    let (database, active) = (database, activeTargets)
    var times = try database.read { () throws(StoreError) in try database.targets.times() }
    // The stored time of a present listener's result may be outdated by a few minutes.
    for (id, target) in active.all {
      times[id] = nil
      if target.data.resumeToken != nil { times[id] = (target.data.target, target.data.snapshotVersion) }
    }
    var coverage: [ResourcePath: CacheSurvey.Coverage] = [:]
    for (target, version) in times.values {
      guard let time = version?.timestamp, !target.isDocumentTarget, target.collectionGroup == nil else { continue }
      var part = coverage[target.path] ?? CacheSurvey.Coverage()
      if target.isWholeCollection {
        part.wholeAsOf = max(part.wholeAsOf ?? time, time)
      } else {
        part.results += 1
        part.newestResult = max(part.newestResult ?? time, time)
      }
      coverage[target.path] = part
    }
    return coverage
  }
}

extension Target {
  /// Whether the target's result contains every document of its collection.
  fileprivate var isWholeCollection: Bool {
    filters.isEmpty && limit == nil && start == nil && end == nil && orderBy.allSatisfy(\.path.isDocumentID)
  }
}

extension TargetCache {
  /// The targets that can be resumed, each with the server time of its result.
  fileprivate func times() throws(StoreError) -> [TargetID: (Target, SnapshotVersion?)] {
    var times: [TargetID: (Target, SnapshotVersion?)] = [:]
    try connection.forEachRow(
      "SELECT id, target, snapshot_version FROM targets WHERE resume_token IS NOT NULL AND snapshot_version IS NOT NULL"
    ) { row throws(StoreError) in
      times[try Self.id(row.integer(0))] = (try Self.decode(row.blob(1)), try row.version(2))
    }
    return times
  }
}

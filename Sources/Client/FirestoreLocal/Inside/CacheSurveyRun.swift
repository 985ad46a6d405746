// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
package import FirestoreSQLite

/// The counting of a cache's documents by collection, of its index entries by index, and of the rows of its other
/// tables; in slices between which the cache may be used and changed: the figures of a cache that changes meanwhile are
/// those of no one moment.
///
///     documents ─► pending ─► members ─► entries ─► rest ─► done
package struct CacheSurveyRun: Sendable {
  struct Tally: Sendable {
    var documents = 0
    var names = 0
    var bytes: Int64 = 0
    /// The documents with an overlay of any user.
    var overlays = 0
  }

  /// Rows, and the size of what they hold.
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
    /// Pending writes by document, with their overlays.
    case pending(after: PendingRow?)
    /// Memberships of documents in targets.
    case members(after: TargetCache.Membership?)
    case entries(after: IndexEntry?)
    /// The tables that are small, or whose rows need no look, each by itself.
    case rest(Int)
    case done
  }

  /// The place of a row among all pending writes by document.
  struct PendingRow: Sendable {
    var collection: CollectionNumber
    var name: String
    var user: Int64
    var batch: Int64
  }

  /// The place of an entry among those of all indexes.
  struct IndexEntry: Sendable {
    var index: IndexNumber
    var collection: CollectionNumber
    var value: [UInt8]
    var document: Int64
  }

  /// The rows between two looks at the clock; they take about half a millisecond.
  static let piece = 1_000

  var phase = Phase.documents(after: nil)
  var tallies: [CollectionNumber: Tally] = [:]
  var pending = Amount()
  /// The last document with an overlay, which may have several: one for each user.
  var lastOverlay: (collection: CollectionNumber, name: String)?
  var members = 0
  var entries: [IndexNumber: Amount] = [:]
  var rest: [CacheContents.Table] = []
  var pacer: SlicePacer

  init(pacer: SlicePacer) { self.pacer = pacer }

  package var isFinished: Bool { if case .done = phase { true } else { false } }
}

extension LocalStore {
  /// Begins to count what the cache has.
  package func beginSurvey(pacer: SlicePacer = .continuous) -> CacheSurveyRun { CacheSurveyRun(pacer: pacer) }

  /// Does the next slice of a survey: some milliseconds of reading.
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
  /// Counts the next piece of rows.
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

  /// The tables that are counted at once, and how the size of their rows is summed up.
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
      // The overlay is the row of no batch.
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

  /// The approximate size of the numbers beside an index entry's value, or of a membership: SQLite stores small numbers
  /// in few bytes.
  static let numberBytes: Int64 = 8
}

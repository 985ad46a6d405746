// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// Performs the work of a `GarbageCollectionRun` on the tables.
struct LRUGarbageCollector {
  let database: CacheDatabase
  let activeTargets: Set<TargetID>
  /// The references that are in memory and not in the database. The caller must have called `settle()` on them.
  let held: DocumentReferences
  /// Pinned targets, and targets whose results other clients of a shared cache read from the cache. The collector keeps
  /// all documents that match such a target, even documents beyond its limit. The clients may have
  /// different users, whose pending writes determine which documents are within the limit.
  let shownElsewhere: [Target]

  /// Works until the slice's time is over, the run is finished, or the run switches between reading and writing.
  /// - Precondition: inside a transaction, except for a dry run.
  func performSlice(_ run: inout GarbageCollectionRun) throws(StoreError) {
    let isWriting = run.isWriting
    var isLast = false
    repeat {
      try performPiece(&run)
      if case .writeBack = run.phase { isLast = true }
    } while !isLast && !run.isFinished && run.isWriting == isWriting && !run.pacer.isOver()
  }

  private func performPiece(_ run: inout GarbageCollectionRun) throws(StoreError) {
    switch run.phase {
    case .members(let position): try readMembers(&run, after: position)
    case .ages(let position): try readAges(&run, after: position)
    case .choose: try choose(&run)
    case .retire(let id): try retire(&run, after: id)
    case .forget(let index): try forgetMembers(&run, index)
    case .candidates(let position): try findCandidates(&run, after: position)
    case .remove(let last): run.isDryRun ? try measure(&run, after: last) : try removeCandidates(&run, after: last)
    case .compact:
      let isMore = try database.compact(unlessBelow: run.thresholdBytes, pages: GarbageCollectionRun.Piece.pagesMoved)
      if !isMore { run.phase = .writeBack }
    case .writeBack, .done: break
    }
  }

  // MARK: Finding out what is old

  private func readMembers(
    _ run: inout GarbageCollectionRun, after position: TargetCache.Membership?
  ) throws(StoreError) {
    let leaving = Set(run.leaving)
    var last: TargetCache.Membership?
    var count = 0
    try database.targets.scanMembership(after: position, limit: GarbageCollectionRun.Piece.rowsRead) { membership in
      if !leaving.contains(membership.target) { run.members.insert(membership.document) }
      last = membership
      count += 1
    }
    let isComplete = count < GarbageCollectionRun.Piece.rowsRead
    if !isComplete {
      run.phase = .members(after: last)
    } else {
      run.phase = run.plan.bound == nil ? .ages(after: nil) : .candidates(after: nil)
    }
  }

  private func readAges(_ run: inout GarbageCollectionRun, after position: DocumentTable.Age?) throws(StoreError) {
    let limit = GarbageCollectionRun.Piece.rowsRead
    let last = try database.documents.scanAges(after: position, upTo: .max, limit: limit) { age in
      if !run.members.contains(age.number) { run.ages.add(age.sequenceNumber) }
    }
    run.phase = last.map { .ages(after: $0) } ?? .choose
  }

  private func choose(_ run: inout GarbageCollectionRun) throws(StoreError) {
    run.setBound(targets: try database.targets.sequenceNumbers())
    if run.plan.bound == nil {
      run.phase = run.isDryRun ? .done : .compact
    } else {
      run.phase = .retire(after: nil)
    }
  }

  /// Hides from queries the targets that will be collected. These targets still protect their documents until the phase
  /// `forget` removes the documents from them.
  private func retire(_ run: inout GarbageCollectionRun, after position: TargetID?) throws(StoreError) {
    guard let bound = run.plan.bound else {
      run.phase = .done
      return
    }
    let limit = GarbageCollectionRun.Piece.targetsRetired
    let old = try database.targets.all(upToSequenceNumber: bound, after: position, limit: limit)
    for data in old where !activeTargets.contains(data.id) {
      run.leaving.append(data.id)
      run.plan.targets.append(
        GarbageCollectionPlan.LeavingTarget(
          target: data.target, sequenceNumber: data.sequenceNumber, confirmed: data.snapshotVersion,
          documents: try database.targets.memberCount(of: data.id)))
      if !run.isDryRun { try database.targets.makeUnknown(data.id) }
    }
    run.targetsRemoved = run.leaving.count
    if old.count == limit {
      run.phase = .retire(after: old.last?.id)
    } else if run.leaving.isEmpty {
      run.phase = .candidates(after: nil)
    } else if run.isDryRun {
      run.members = NumberSet()
      run.phase = .members(after: nil)
    } else {
      run.phase = .forget(index: 0)
    }
  }

  private func forgetMembers(_ run: inout GarbageCollectionRun, _ index: Int) throws(StoreError) {
    var index = index
    var budget = GarbageCollectionRun.Piece.membersForgotten
    while index < run.leaving.count, budget > 0 {
      let removed = try database.targets.removeMembers(of: run.leaving[index], limit: budget)
      budget -= max(removed, 1)
      if removed > 0 { continue }
      try database.targets.remove(run.leaving[index])
      index += 1
    }
    guard index == run.leaving.count else {
      run.phase = .forget(index: index)
      return
    }
    run.leaving = []
    run.members = NumberSet()
    run.phase = .members(after: nil)
  }

  private func findCandidates(_ run: inout GarbageCollectionRun, after position: DocumentTable.Age?)
    throws(StoreError)
  {
    guard let bound = run.plan.bound else {
      run.phase = .done
      return
    }
    let limit = GarbageCollectionRun.Piece.rowsRead
    let last = try database.documents.scanAges(after: position, upTo: bound, limit: limit) { age in
      if run.members.contains(age.number) { return }
      run.candidates.insert(age.number)
      if run.isDryRun { run.oldest.add(age.number, age.sequenceNumber) }
    }
    if let last {
      run.phase = .candidates(after: last)
      return
    }
    run.phase = .remove(after: nil)
  }

  // MARK: Removing

  /// Removes the candidates in ascending order. Neighboring rows share pages, so this changes each page only once.
  private func removeCandidates(
    _ run: inout GarbageCollectionRun, after last: DocumentNumber?
  ) throws(StoreError) {
    let numbers = run.candidates.numbers(above: last, limit: GarbageCollectionRun.Piece.documentsRemoved)
    let references = try references()
    for number in numbers {
      if !run.isUndisturbed, try !isStillOrphan(number, upTo: run.plan.bound) { continue }
      if try references.contains(number) { continue }
      try database.documents.remove(number)
      run.documentsRemoved += 1
    }
    run.phase = numbers.count == GarbageCollectionRun.Piece.documentsRemoved ? .remove(after: numbers.last) : .compact
  }

  private func measure(_ run: inout GarbageCollectionRun, after last: DocumentNumber?) throws(StoreError) {
    let numbers = run.candidates.numbers(above: last, limit: GarbageCollectionRun.Piece.documentsMeasured)
    let references = try references()
    for number in numbers where try !references.contains(number) {
      let bytes = try database.documents.byteCount(number)
      run.plan.documents += 1
      run.plan.bytes += bytes
      run.plan.parts[number.collection, default: GarbageCollectionPlan.Part()].documents += 1
      run.plan.parts[number.collection]?.bytes += bytes
    }
    if numbers.count == GarbageCollectionRun.Piece.documentsMeasured {
      run.phase = .remove(after: numbers.last)
    } else {
      try nameOldest(&run, references)
      run.phase = .done
    }
  }

  /// Records which documents are collected first, in the order of their last use.
  private func nameOldest(_ run: inout GarbageCollectionRun, _ references: References) throws(StoreError) {
    for (sequenceNumber, number) in run.oldest.sorted where run.plan.oldest.count < ClientInside.listed {
      guard try !references.contains(number), let name = try database.documents.name(number) else { continue }
      run.plan.oldest.append(
        GarbageCollectionPlan.LeavingDocument(
          key: try database.collections.key(number.collection, name), sequenceNumber: sequenceNumber,
          confirmed: SnapshotVersion(microseconds: try database.confirmed(number)),
          bytes: try database.documents.byteCount(number)))
    }
  }

  private func isStillOrphan(_ number: DocumentNumber, upTo bound: Int64?) throws(StoreError) -> Bool {
    guard let bound, let age = try database.documents.sequenceNumber(number), age <= bound else { return false }
    return try !database.targets.anyContains(number)
  }

  func references() throws(StoreError) -> References {
    let shown = (held.pins.values.map(\.keys) + held.limbo.values).filter { !$0.isEmpty }
    return References(
      database: database, shown: shown, shownElsewhere: shownElsewhere, hasBatches: try database.mutations.hasAny())
  }

  /// The references other than targets that protect a document from collection: views, limbo resolutions, and the
  /// pending writes of all users.
  struct References {
    let database: CacheDatabase
    let shown: [Set<DocumentKey>]
    let shownElsewhere: [Target]
    let hasBatches: Bool

    func contains(_ number: DocumentNumber) throws(StoreError) -> Bool {
      if shown.isEmpty && shownElsewhere.isEmpty && !hasBatches { return false }
      let collection = number.collection
      guard let name = try database.documents.name(number) else { return true }
      if hasBatches, try database.mutations.affects(collection, name) { return true }
      if shown.isEmpty && shownElsewhere.isEmpty { return false }
      let key = try database.collections.key(collection, name)
      if shown.contains(where: { $0.contains(key) }) { return true }
      let candidates = shownElsewhere.filter { $0.containsPath(of: key) }
      // Compares the backend's version, which every client sees because the document has no pending writes.
      guard !candidates.isEmpty, let document = try database.documents.document(key, in: collection) else {
        return false
      }
      return candidates.contains { $0.matches(document) }
    }
  }
}

extension TargetCache {
  /// An entry that assigns a document to a target.
  struct Membership: Sendable {
    var document: DocumentNumber
    var target: TargetID
  }

  /// Calls `body` for at most `limit` pairs of a document and a target that contains it, in the order of the documents.
  func scanMembership(
    after position: Membership?, limit: Int, _ body: (Membership) -> Void
  ) throws(StoreError) {
    try connection.forEachRow(
      """
      SELECT document, target FROM target_documents INDEXED BY target_documents_by_document
      WHERE (document, target) > (?, ?) ORDER BY document, target LIMIT ?
      """, position?.document.rawValue ?? .min, position.map { Int64($0.target.rawValue) } ?? .min, limit
    ) { row in
      body(Membership(document: row.number(0), target: TargetID(Int32(truncatingIfNeeded: row.integer(1)))))
    }
  }

  /// The next targets, in the order of their ids, whose last use has this sequence number or a lower one.
  func all(
    upToSequenceNumber bound: Int64, after id: TargetID?, limit: Int
  ) throws(StoreError) -> [TargetData] {
    try connection.all(
      """
      SELECT id, target, sequence_number, snapshot_version FROM targets WHERE sequence_number <= ? AND id > ?
      ORDER BY id LIMIT ?
      """, bound, id.map { Int64($0.rawValue) } ?? .min, limit
    ) { row throws(StoreError) in
      TargetData(
        id: try Self.id(row.integer(0)), target: try Self.decode(row.blob(1)), sequenceNumber: row.integer(2),
        snapshotVersion: try row.version(3))
    }
  }

  /// Hides a target from queries, so that a new listener to its query gets a new target. If its entries are not deleted
  /// now, the next garbage collection removes this target first.
  func makeUnknown(_ id: TargetID) throws(StoreError) {
    try connection.run(
      """
      UPDATE targets SET canonical_id = 'collected:' || id, sequence_number = 0, snapshot_version = NULL,
        limbo_free_version = NULL, resume_token = NULL, checksum = NULL, members = NULL
      WHERE id = ?
      """, id)
  }

  func memberCount(of id: TargetID) throws(StoreError) -> Int {
    Int(try connection.integer("SELECT count(*) FROM target_documents WHERE target = ?", id) ?? 0)
  }

  /// - Returns: the number of documents that were removed from the target; at most `limit`.
  func removeMembers(of id: TargetID, limit: Int) throws(StoreError) -> Int {
    try connection.run(
      """
      DELETE FROM target_documents WHERE target = ?1 AND document IN
        (SELECT document FROM target_documents WHERE target = ?1 ORDER BY document LIMIT ?2)
      """, id, limit)
    return connection.rowsChangedLast
  }

  func count() throws(StoreError) -> Int { Int(try connection.integer("SELECT count(*) FROM targets") ?? 0) }

  /// The targets that contain a document.
  func all(with document: DocumentNumber) throws(StoreError) -> [TargetID] {
    try connection.all("SELECT target FROM target_documents WHERE document = ? ORDER BY target", document) {
      row throws(StoreError) in try Self.id(row.integer(0))
    }
  }

  /// Deletes a document's entries in targets that are hidden from queries.
  func removeMemberships(of document: DocumentNumber) throws(StoreError) {
    try connection.run("DELETE FROM target_documents WHERE document = ?", document)
  }
}

extension DocumentTable {
  /// The last use of a document. It is also a position in the index that orders documents by last use.
  struct Age: Sendable {
    var collection: CollectionNumber
    var readTime: Int64
    var sequenceNumber: Int64
    var number: DocumentNumber
  }

  /// Calls `body` for the rows with sequence numbers up to a bound, ordered by last use.
  /// - Returns: the position after which to continue; `nil` after the last row.
  func scanAges(
    after position: Age?, upTo bound: Int64, limit: Int, _ body: (Age) -> Void
  ) throws(StoreError) -> Age? {
    var last: Age?
    var count = 0
    try connection.forEachRow(
      """
      SELECT collection, read_time, sequence_number, id FROM documents INDEXED BY documents_by_read_time
      WHERE (collection, read_time, sequence_number, id) > (?, ?, ?, ?)
      ORDER BY collection, read_time, sequence_number, id LIMIT ?
      """, position?.collection.rawValue ?? .min, position?.readTime ?? .min, position?.sequenceNumber ?? .min,
      position?.number.rawValue ?? .min, limit
    ) { row in
      let age = Age(
        collection: row.number(0), readTime: row.integer(1), sequenceNumber: row.integer(2), number: row.number(3))
      if age.sequenceNumber <= bound { body(age) }
      last = age
      count += 1
    }
    return count < limit ? nil : last
  }

  /// - Returns: `nil` if the document is not in the cache.
  func sequenceNumber(_ number: DocumentNumber) throws(StoreError) -> Int64? {
    try connection.integer("SELECT sequence_number FROM documents WHERE id = ?", number)
  }

  /// The size in bytes of a document's fields and id.
  func byteCount(_ number: DocumentNumber) throws(StoreError) -> Int64 {
    try connection.integer("SELECT length(name) + ifnull(length(fields), 0) FROM documents WHERE id = ?", number) ?? 0
  }

  func count() throws(StoreError) -> Int { Int(try connection.integer("SELECT count(*) FROM documents") ?? 0) }
}

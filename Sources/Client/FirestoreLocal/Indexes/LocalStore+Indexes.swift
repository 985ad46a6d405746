// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
package import FirestoreQuery
package import FirestoreSQLite

extension LocalStore {
  /// Replaces the configured indexes. Unchanged indexes keep their entries, and automatic indexes are unaffected. A new
  /// index is maintained immediately, but queries use it only after `backfillIndexes` has added the existing documents.
  package mutating func setIndexes(_ definitions: [FieldIndex]) throws(StoreError) {
    let database = database
    try database.transaction { () throws(StoreError) in
      let indexes = database.indexes
      for index in try indexes.indexes where index.origin == .configured {
        if !definitions.contains(where: index.definition.isEquivalent(to:)) { try indexes.set(.dropped, of: index) }
      }
      for definition in definitions {
        if let known = try indexes.indexes.first(where: { $0.definition.isEquivalent(to: definition) }) {
          if known.origin != .configured { try indexes.set(.configured, of: known) }
        } else {
          try indexes.add(definition, .configured)
        }
      }
    }
  }

  /// Drops all configured and automatic indexes (SDK: deleteAllFieldIndexes).
  package mutating func deleteAllIndexes() throws(StoreError) {
    let database = database
    try database.transaction { () throws(StoreError) in
      for index in try database.indexes.indexes { try database.indexes.set(.dropped, of: index) }
    }
  }

  /// The indexes, in the order of their creation.
  package func indexes() throws(StoreError) -> [IndexState] {
    try database.read { () throws(StoreError) in
      var states: [IndexState] = []
      let backfill = IndexBackfill(database: database)
      for index in try database.indexes.indexes {
        let progress = index.isReady ? nil : try backfill.progress(of: index)
        states.append(
          IndexState(definition: index.definition, isAutomatic: index.origin == .automatic, backfill: progress))
      }
      return states
    }
  }

  /// The progress of each index: the number of indexed documents and the number of all documents, in the order of
  /// `indexes`. Reads every collection in each index's group.
  package func indexProgress() throws(StoreError) -> [IndexProgress] {
    try database.read { () throws(StoreError) in
      var progress: [IndexProgress] = []
      let backfill = IndexBackfill(database: database)
      for index in try database.indexes.indexes { progress.append(try backfill.progress(of: index)) }
      return progress
    }
  }

  /// Whether `backfillIndexes` has work to do.
  package var needsIndexBackfill: Bool {
    get throws(StoreError) {
      // The primary client backfills for all clients that share the cache.
      guard isPrimary else { return false }
      return try IndexBackfill(database: database).isNeeded
    }
  }

  /// Performs one slice of the index backfill in one transaction. Takes a few milliseconds. If the write-ahead log is
  /// long, a separate slice writes it back, so that no commit has to.
  /// - Returns: whether more work remains.
  package mutating func backfillIndexes() throws(StoreError) -> Bool {
    let backfill = IndexBackfill(database: database)
    guard try backfill.isNeeded else { return false }
    let database = database
    var pacer = backfillPacer
    pacer.begin(isWriting: true)
    let logBytes = database.logByteSize
    if backfillLog.isDue(at: logBytes) {
      try database.perform { () throws(StoreError) in try database.writeLogBack() }
      backfillLog.wroteBack(logBytes, in: pacer.elapsed)
      return true
    }
    try database.transaction { () throws(StoreError) in try backfill.performSlice(&pacer) }
    pacer.end()
    backfillPacer = pacer
    return try backfill.isNeeded
  }
}

/// Performs the work that a change of index definitions requires. Removes the entries of dropped indexes, and adds
/// entries for documents that were cached before an index was defined. The work is split into pieces, which are limited
/// in documents, entries and bytes, so that each takes about 0.5 ms. Each piece stores its position, so that the work
/// continues from there after a restart.
struct IndexBackfill {
  private static let maximumDocuments = 50
  private static let maximumEntries = 50
  private static let maximumBytes = 32 * 1024
  private static let maximumRemovals = 250

  let database: CacheDatabase

  private var indexes: IndexTable { database.indexes }

  var isNeeded: Bool {
    get throws(StoreError) {
      if try !indexes.dropped.isEmpty { return true }
      return try indexes.indexes.contains { !$0.isReady }
    }
  }

  /// Works until the pacer ends the slice.
  /// - Precondition: inside a transaction.
  func performSlice(_ pacer: inout SlicePacer) throws(StoreError) {
    repeat {
      try performPiece()
      if pacer.isOver() { break }
    } while try isNeeded
    pacer.endWork()
  }

  private func performPiece() throws(StoreError) {
    if let number = try indexes.dropped.first {
      try indexes.removeEntries(of: number, atMost: Self.maximumRemovals)
    } else if let index = try indexes.indexes.first(where: { !$0.isReady }), let position = index.position {
      try indexes.set(position: try advance(index, from: position), of: index)
    }
  }

  /// - Returns: the position at which to continue; `nil` at the end.
  private func advance(
    _ index: IndexTable.Index, from position: DocumentNumber
  ) throws(StoreError) -> DocumentNumber? {
    var documents = 0
    var entries = 0
    var bytes = 0
    for collection in try collections(of: index) where collection >= position.collection {
      var next: DocumentNumber?
      try database.documents.scan(collection, from: position) { row throws(StoreError) in
        documents += 1
        if row.isFound, try !indexes.tails.contains(row.number) {
          let fields = row.fieldBytes
          bytes += fields.count
          entries += try indexes.add(row.number, EncodedFieldsView(fields), to: index)
        }
        next = row.number.next
        return documents < Self.maximumDocuments && entries < Self.maximumEntries && bytes < Self.maximumBytes
      }
      if documents >= Self.maximumDocuments || entries >= Self.maximumEntries || bytes >= Self.maximumBytes {
        return next
      }
    }
    return nil
  }

  /// The number of documents already in the index, and the total number of documents that it must contain.
  func progress(of index: IndexTable.Index) throws(StoreError) -> IndexProgress {
    var progress = IndexProgress(documentsIndexed: 0, documentsTotal: 0)
    for collection in try collections(of: index) {
      let extent = try database.documents.extent(of: collection)
      progress.documentsTotal += extent
      let position = index.position ?? DocumentNumber(rawValue: .max)
      if position.collection > collection {
        progress.documentsIndexed += extent
      } else if position.collection == collection {
        progress.documentsIndexed += min(extent, Int(position.ordinal))
      }
    }
    return progress
  }

  private func collections(of index: IndexTable.Index) throws(StoreError) -> [CollectionNumber] {
    try database.collections.group(index.definition.collectionGroup, below: .root)
  }
}

/// Decides, based on the cost of a scan, whether to create indexes for the query (SDK: index auto-creation).
struct AutomaticIndexes {
  /// The minimum number of documents that a scan must read before an index is created (SDK:
  /// INDEX_AUTO_CREATION_MIN_COLLECTION_SIZE).
  static let minimumScan = 100
  /// The cost of reading one document through an index: as much as scanning this many documents (SDKs: 2 to 8).
  /// hearth-bench measured about 0.4 µs per scanned document and 1.5 µs per document found by an index. Neither number
  /// includes the work on matching documents, which is the same with and without an index.
  private static let relativeCost = 4
  /// The maximum number of automatic indexes. It is limited because every index slows down writes.
  private static let maximumCount = 32

  let database: CacheDatabase
  let minimumScan: Int

  /// Creates the missing indexes for a query if they would have made the query cheaper than its scan.
  func consider(_ query: Query, _ result: QueryResult) throws(StoreError) {
    guard result.plan == .scan, result.documentsScanned >= minimumScan else { return }
    let returned = min(result.matches.count, query.limit ?? .max)
    guard result.documentsScanned > Self.relativeCost * returned else { return }
    let known = try database.indexes.indexes
    let wanted = Self.definitions(for: query.target).filter { definition in
      !known.contains { $0.definition.isEquivalent(to: definition) }
    }
    let automatic = known.filter { $0.origin == .automatic }.count
    guard !wanted.isEmpty, automatic + wanted.count <= Self.maximumCount else { return }
    let database = database
    try database.transaction { () throws(StoreError) in
      for definition in wanted { try database.indexes.add(definition, .automatic) }
    }
  }

  /// The indexes that a target needs. Empty if one of the target's alternatives would have to read a whole index.
  static func definitions(for target: Target) -> [FieldIndex] {
    guard let group = target.collectionGroup ?? (target.path.isRoot ? nil : target.path.last) else { return [] }
    var definitions: [FieldIndex] = []
    for conditions in Filter.and(target.filters).disjunctions {
      guard let definition = definition(for: conditions, target, group) else { return [] }
      if !definitions.contains(definition) { definitions.append(definition) }
    }
    return definitions.count > 4 ? [] : definitions
  }

  /// Defines an index with its fields in this order: the array field, the fields that conditions fix to one value, and
  /// the orderings. Fields with inequalities are part of the orderings.
  private static func definition(
    for conditions: [FieldFilter], _ target: Target, _ group: String
  ) -> FieldIndex? {
    var fields: [FieldIndex.Field] = []
    var paths: Set<FieldPath> = []
    if let array = conditions.first(where: { $0.op == .arrayContains }), paths.insert(array.path).inserted {
      fields.append(FieldIndex.Field(array.path, .contains))
    }
    let fixed = conditions.filter { $0.op == .equal && !$0.path.isDocumentID }
    for path in fixed.map(\.path).sorted() where paths.insert(path).inserted {
      fields.append(FieldIndex.Field(path))
    }
    let order = target.orderBy.filter { !$0.path.isDocumentID && paths.insert($0.path).inserted }
    let isBounded = conditions.contains { condition in
      switch condition.op {
      case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: !condition.path.isDocumentID
      default: false
      }
    }
    if fields.isEmpty, !isBounded, target.limit == nil || order.isEmpty { return nil }
    fields += order.map { FieldIndex.Field($0.path, $0.direction == .descending ? .descending : .ascending) }
    // `nil` if the definition is invalid, because then no index can help the query.
    return try? FieldIndex(collectionGroup: group, fields: fields)
  }
}

extension FieldIndex {
  /// The indexes that a query needs; empty if no index would help.
  package static func answering(_ query: Query) -> [FieldIndex] { AutomaticIndexes.definitions(for: query.target) }
}

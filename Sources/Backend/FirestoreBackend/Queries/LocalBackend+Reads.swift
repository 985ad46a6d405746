// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
import FirestoreSQLite

/// The version to read.
package enum ReadConsistency: Sendable {
  case latest
  /// A time within the last hour, if earlier versions are still stored.
  case readTime(Timestamp)
  /// The version of a transaction, which records the documents read.
  case transaction([UInt8])
}

/// A query to read, and the version to read at.
package struct ReadRequest: Sendable {
  let query: ServedQuery
  let consistency: ReadConsistency
  let database: DatabaseID

  package init(_ query: ServedQuery, _ consistency: ReadConsistency = .latest, in database: DatabaseID) {
    self.query = query
    self.consistency = consistency
    self.database = database
  }
}

/// Reads at any version still stored. A long read is done in slices, between which the backend serves other calls. All
/// slices read at one version, so the result is consistent.
extension LocalBackend {
  /// The number of rows read in one step on the backend's actor: two or three milliseconds.
  static let slice = 1_000

  /// The documents in the requested order, in one step. Missing documents are returned as `missing` at the read time.
  package func lookup(
    _ keys: [DocumentKey], _ consistency: ReadConsistency = .latest, in database: DatabaseID
  ) throws(RPCStatus) -> (documents: [Document], readTime: SnapshotVersion) {
    let version = try begin(consistency, in: database) { $0.look(up: keys, at: $1) }
    return (try lookup(keys[...], at: version, in: database), SnapshotVersion(microseconds: version))
  }

  /// Looks documents up like `lookup`, but in slices.
  package func documents(
    _ keys: [DocumentKey], _ consistency: ReadConsistency = .latest, in database: DatabaseID
  ) async throws(RPCStatus) -> (documents: [Document], readTime: SnapshotVersion) {
    let version = try begin(consistency, in: database) { $0.look(up: keys, at: $1) }
    var documents: [Document] = []
    documents.reserveCapacity(keys.count)
    var rest = keys[...]
    while !rest.isEmpty {
      documents += try lookup(rest.prefix(Self.slice), at: version, in: database)
      rest = rest.dropFirst(Self.slice)
      if !rest.isEmpty { await pause() }
    }
    return (documents, SnapshotVersion(microseconds: version))
  }

  private func lookup(
    _ keys: ArraySlice<DocumentKey>, at version: Int64, in database: DatabaseID
  ) throws(RPCStatus) -> [Document] {
    try read(at: version, in: database) { reader throws(StoreError) in
      var documents: [Document] = []
      documents.reserveCapacity(keys.count)
      for key in keys { documents.append(try reader.document(key)) }
      return documents
    }
  }

  /// The matches in the query's order, after its offset.
  package func run(
    _ request: ReadRequest
  ) async throws(RPCStatus) -> (documents: [Document], readTime: SnapshotVersion) {
    let version = try begin(request)
    return (try await documents(of: request, at: version), SnapshotVersion(microseconds: version))
  }

  private func documents(of request: ReadRequest, at version: Int64) async throws(RPCStatus) -> [Document] {
    var (documents, next) = ([Document](), QueryCursor?.some(try await open(request, at: version, holding: .max)))
    while let cursor = next {
      let (piece, rest) = try await read(cursor)
      documents += piece.documents
      next = rest
    }
    return documents
  }

  /// Aggregates over a query's matches, by alias (PROTOCOL §3.9).
  package func aggregate(
    _ request: ReadRequest, _ aggregations: [Aggregation]
  ) async throws(RPCStatus) -> (values: [String: Value], readTime: SnapshotVersion) {
    try Self.check(aggregations)
    let version = try begin(request)
    let (query, database) = (request.query, request.database)
    let readTime = SnapshotVersion(microseconds: version)
    let paths = aggregations.compactMap(\.path)
    if paths.isEmpty {
      let recorded = try read(at: version, in: database) { reader throws(StoreError) in
        try reader.recordedCount(of: query)
      }
      if let recorded {
        let count = Value.integer(Int64(min(recorded, query.target.limit ?? .max)))
        return (Dictionary(uniqueKeysWithValues: aggregations.map { ($0.alias, count) }), readTime)
      }
    }
    var figures = AggregationFigures(aggregations)
    if query.needed == nil, query.offset == 0 {
      try await forEachMatch(of: query, at: version, in: database) { document in
        figures.add(document)
        return true
      }
    } else {
      var ordered = query
      (ordered.offset, ordered.target.limit) = (0, query.needed)
      if query.target.start == nil, query.target.end == nil {
        ordered.target = ordered.target.implyingOrder(of: aggregations)
      } else if !paths.isEmpty {
        // A cursor refers to the given orderings, so none are added. The limit applies only to documents that are
        // counted.
        ordered.target.limit = nil
      }
      let documents = try await documents(of: ReadRequest(ordered, in: database), at: version)
      let counted = documents.lazy.filter { document in paths.allSatisfy { document[$0] != nil } }
      for document in counted.dropFirst(query.offset).prefix(query.target.limit ?? .max) { figures.add(document) }
    }
    return (figures.values, readTime)
  }

  /// - Throws: `invalid-argument` for aggregations that cannot be combined.
  package static func check(_ aggregations: [Aggregation]) throws(RPCStatus) {
    func refused(_ message: String) -> RPCStatus { RPCStatus(.invalidArgument, message) }
    if aggregations.isEmpty { throw refused("Aggregations can not be empty.") }
    if aggregations.count > Aggregation.maximumCount {
      throw refused(
        "The maximum number of aggregations allowed in an aggregation query is \(Aggregation.maximumCount).")
    }
    var aliases: Set<String> = []
    for aggregation in aggregations {
      if !aliases.insert(aggregation.alias).inserted {
        throw refused("Aggregation aliases contain duplicate alias: \(aggregation.alias).")
      }
      if aggregation.path?.isDocumentID == true {
        throw refused("Aggregations are not supported for the property: __key__")
      }
    }
  }

  /// The ids of the collections directly below a document, or of the root; sorted by UTF-8.
  package func collectionIDs(
    below parent: ResourcePath, _ consistency: ReadConsistency = .latest, in database: DatabaseID
  ) throws(RPCStatus) -> [String] {
    let version = try begin(consistency, in: database)
    return try read(at: version, in: database) { reader throws(StoreError) in
      try reader.collectionIDs(below: parent)
    }
  }

  /// The keys of the documents in a collection, existing or missing, that have documents below them; in key order.
  package func parents(
    in collection: ResourcePath, _ consistency: ReadConsistency = .latest, in database: DatabaseID
  ) throws(RPCStatus) -> [DocumentKey] {
    try collectionIDs(below: collection, consistency, in: database)
      .map { DocumentKey(unchecked: collection.appending($0)) }.sorted()
  }

  /// Deletes a document or collection with all documents below it, by ordinary commits. Documents that are written
  /// there during the deletion may remain.
  package func deleteDocuments(below path: ResourcePath, in database: DatabaseID) async throws(RPCStatus) {
    let target = Target(
      path: path, filters: [], orderBy: [OrderBy(.documentID)], limit: nil, start: nil, end: nil)
    let version = try begin(.latest, in: database)
    var keys: [DocumentKey] = []
    for scope in [ServedQuery.Scope.target, .descendants] {
      try await forEachMatch(of: ServedQuery(target, scope: scope), at: version, in: database) { document in
        keys.append(document.key)
        return true
      }
    }
    var rest = keys[...]
    while !rest.isEmpty {
      try commit(rest.prefix(Self.slice).map { Mutation(key: $0, operation: .delete) }, in: database)
      rest = rest.dropFirst(Self.slice)
      await pause()
    }
  }

  /// The matches in the query's order, including the offset.
  /// - Parameter bytes: the maximum size in bytes of all whole documents together; larger results contain only the
  ///   fields that the target sorts by.
  func ordered(
    _ query: ServedQuery, at version: Int64, in database: DatabaseID, holding bytes: Int
  ) async throws(RPCStatus) -> (documents: [Document], isThin: Bool) {
    var top = TopDocuments(query.target, limit: query.needed, holding: bytes)
    if query.needed == 0 { return top.finish() }
    // A read without conditions reaches its limit early, so it needs no slices. Slices cannot read backward.
    if query.scope == .target, let needed = query.needed, query.target.orderBy.count == 1,
      query.target.orderBy[0].path.isDocumentID,
      query.target.filters.isEmpty || query.target.orderBy[0].direction == .descending
    {
      let documents = try read(at: version, in: database) { reader throws(StoreError) in
        try reader.run(query.target, limit: needed)
      }
      return (documents, false)
    }
    try await forEachMatch(of: query, at: version, in: database) { document in
      top.add(document)
      return true
    }
    return top.finish()
  }

  /// Visits the matches in storage order until `visit` returns false.
  func forEachMatch(
    of query: ServedQuery, at version: Int64, in database: DatabaseID, _ visit: (Document) -> Bool
  ) async throws(RPCStatus) {
    var (position, goesOn, collections) = (DocumentPosition?.none, true, [CollectionEntry]?.none)
    while true {
      position = try read(at: version, in: database) { reader throws(StoreError) in
        try reader.scanMatches(of: query, after: position, rows: Self.slice, in: &collections) { document in
          goesOn = visit(document)
          return goesOn
        }
      }
      if position == nil || !goesOn { return }
      await pause()
      if Task.isCancelled { throw RPCStatus(.cancelled, "The request was cancelled.") }
    }
  }

  func read<Result>(
    at version: Int64, in database: DatabaseID, _ body: (DocumentReader) throws(StoreError) -> Result
  ) throws(RPCStatus) -> Result {
    do throws(StoreError) { return try log.read(database, at: version, body) } catch { throw error.status }
  }

  func begin(_ request: ReadRequest) throws(RPCStatus) -> Int64 {
    try begin(request.consistency, in: request.database) { $0.queries.append((request.query, $1)) }
  }

  /// Returns the version to read at. In a read-write transaction, `note` records the documents or query to be read.
  private func begin(
    _ consistency: ReadConsistency, in database: DatabaseID,
    _ note: (inout OpenTransaction, Int64) -> Void = { _, _ in }
  ) throws(RPCStatus) -> Int64 {
    let version: Int64
    do throws(StoreError) { version = try self.version(of: consistency, in: database) } catch { throw error.status }
    if case .transaction(let bytes) = consistency, let id = TransactionID(bytes), var transaction = transactions[id],
      !transaction.isReadOnly
    {
      note(&transaction, version)
      transactions[id] = transaction
    }
    return version
  }

  /// The version to read at. Every later commit gets a later version.
  func version(of consistency: ReadConsistency, in database: DatabaseID) throws(StoreError) -> Int64 {
    let state = try log.state(of: database)
    switch consistency {
    case .latest: return try log.readVersion(of: database)
    case .readTime(let time): return try version(of: time, state, in: database)
    case .transaction(let bytes):
      let id = try transactions.use(bytes, in: database, at: log.clock.microseconds)
      let version: Int64
      if let known = transactions[id]?.version, transactions[id]?.isPessimistic == false {
        version = known
      } else {
        version = try log.readVersion(of: database)
      }
      if transactions[id]?.version == nil { transactions[id]?.version = version }
      if version < state.historyStart {
        throw .refused(.aborted, "The version read by this transaction has expired. Please try again.")
      }
      return version
    }
  }

  private func version(
    of time: Timestamp, _ state: DatabaseState, in database: DatabaseID
  ) throws(StoreError) -> Int64 {
    guard time.nanoseconds % 1_000 == 0 else {
      throw .refused(.invalidArgument, "timestamp cannot have more than microseconds precision")
    }
    let now = log.clock.microseconds
    let version = time.microseconds
    guard version <= max(now, state.version) else {
      throw .refused(.invalidArgument, "The requested 'read_time' cannot be in the future.")
    }
    // The current state can be read even if its version is old.
    guard version >= state.committed || (version >= now - DocumentHistory.kept && version >= state.historyStart) else {
      throw log.tooOld(state)
    }
    try log.advance(database, to: version)
    return version
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// At which version a read happens.
package enum ReadConsistency: Sendable {
  case latest
  /// A time within the last hour.
  case readTime(Timestamp)
  /// The version of a transaction, which records what was read.
  case transaction([UInt8])
}

/// Reads at any version still on record. A long read is done in slices, between which the backend serves others; all
/// slices read at one version, so the result is consistent.
extension LocalBackend {
  /// Rows read in one step on the backend's actor: two or three milliseconds.
  static let slice = 1_000

  /// The documents in the order asked; one that does not exist is `missing` at the read time.
  package func documents(
    _ keys: [DocumentKey], _ consistency: ReadConsistency, in database: DatabaseID
  ) async throws(RPCStatus) -> (documents: [Document], readTime: SnapshotVersion) {
    let version = try readVersion(consistency, in: database)
    record(consistency) { $0.keys.formUnion(keys) }
    var documents: [Document] = []
    documents.reserveCapacity(keys.count)
    var rest = keys[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.slice)
      try read(at: version, in: database) { reader throws(BackendError) in
        for key in part { documents.append(try reader.document(key)) }
      }
      rest = rest.dropFirst(part.count)
      if !rest.isEmpty { await pause() }
    }
    return (documents, SnapshotVersion(microseconds: version))
  }

  /// The matches in the query's order, after its offset.
  package func run(
    _ query: ServedQuery, _ consistency: ReadConsistency, in database: DatabaseID
  ) async throws(RPCStatus) -> (documents: [Document], skipped: Int, readTime: SnapshotVersion) {
    let version = try readVersion(consistency, in: database)
    record(consistency) { $0.queries.append(query) }
    var documents = try await ordered(query, at: version, in: database).documents
    let skipped = min(query.offset, documents.count)
    documents.removeFirst(skipped)
    if let nearest = query.nearest { documents = nearest.choose(from: documents) }
    return (documents, skipped, SnapshotVersion(microseconds: version))
  }

  /// Figures over a query's matches, by alias.
  package func aggregate(
    _ query: ServedQuery, _ aggregations: [Aggregation], _ consistency: ReadConsistency, in database: DatabaseID
  ) async throws(RPCStatus) -> (values: [String: Value], readTime: SnapshotVersion) {
    let version = try readVersion(consistency, in: database)
    record(consistency) { $0.queries.append(query) }
    let time = SnapshotVersion(microseconds: version)
    let isBounded = query.needed != nil || query.offset > 0
    if query.scope == .target, query.offset == 0, !isBounded, aggregations.allSatisfy({ $0.path == nil }),
      query.target.matchesWholeCollections
    {
      // On record, unless it is the past.
      let values = try read(at: version, in: database) { reader throws(BackendError) in
        reader.past == nil ? try reader.aggregate(query.target, aggregations) : nil
      }
      if let values { return (values, time) }
    }
    var figures = AggregationFigures(aggregations)
    if isBounded {
      // A cursor speaks about the given orderings: then the order stays.
      var ordered = query
      if query.target.start == nil, query.target.end == nil {
        ordered.target = query.target.implyingOrder(of: aggregations)
      }
      let documents = try await self.ordered(ordered, at: version, in: database).documents
      for document in documents.dropFirst(query.offset) {
        figures.add(document)
      }
    } else {
      try await forEachMatch(of: query, at: version, in: database) { document in
        figures.add(document)
        return true
      }
    }
    return (figures.values, time)
  }

  /// Ids of the collections directly below a document, or of the root; sorted by UTF-8.
  package func collectionIDs(
    below parent: ResourcePath, _ consistency: ReadConsistency, in database: DatabaseID
  ) throws(RPCStatus) -> [String] {
    let version = try readVersion(consistency, in: database)
    return try read(at: version, in: database) { reader throws(BackendError) in
      try reader.collectionIDs(below: parent)
    }
  }

  /// Keys of documents in a collection that have documents below them, whether or not they exist; in key order.
  package func parents(
    in collection: ResourcePath, _ consistency: ReadConsistency, in database: DatabaseID
  ) throws(RPCStatus) -> [DocumentKey] {
    let version = try readVersion(consistency, in: database)
    return try read(at: version, in: database) { reader throws(BackendError) in
      try reader.collectionIDs(below: collection).map { DocumentKey(unchecked: collection.appending($0)) }.sorted()
    }
  }

  /// Removes a document or collection with all that lies below it; each document as a commit would. What is written
  /// there meanwhile may stay.
  package func deleteDocuments(below path: ResourcePath, in database: DatabaseID) async throws(RPCStatus) {
    let target = Target(
      path: path, filters: [], orderBy: [OrderBy(.documentID)], limit: nil, start: nil, end: nil)
    let version = try readVersion(.latest, in: database)
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

  /// The matches in the query's order, offset included.
  /// - Parameter bytes: of documents that hold more, only the fields are returned by which they are sorted.
  func ordered(
    _ query: ServedQuery, at version: Int64, in database: DatabaseID, holding bytes: Int = .max
  ) async throws(RPCStatus) -> (documents: [Document], isThin: Bool) {
    var top = TopDocuments(query.target, limit: query.needed, holding: bytes)
    if query.needed == 0 { return top.finish() }
    // Read backwards, a limit is reached early; this path does not slice.
    if query.scope == .target, let needed = query.needed, query.target.orderBy.count == 1,
      query.target.orderBy[0] == OrderBy(.documentID, .descending)
    {
      return (
        try read(at: version, in: database) { reader throws(BackendError) in
          try reader.run(query.target, limit: needed)
        }, false
      )
    }
    let isInOrder = try read(at: version, in: database) { reader throws(BackendError) in
      try reader.isScannedInOrder(query)
    }
    if isInOrder, let needed = query.needed {
      var found: [Document] = []
      try await forEachMatch(of: query, at: version, in: database) { document in
        found.append(document)
        return found.count < needed
      }
      return (found, false)
    }
    try await forEachMatch(of: query, at: version, in: database) { document in
      top.add(document)
      return true
    }
    return top.finish()
  }

  /// Visits the matches in storage order until `visit` returns false.
  private func forEachMatch(
    of query: ServedQuery, at version: Int64, in database: DatabaseID, _ visit: (Document) -> Bool
  ) async throws(RPCStatus) {
    var (position, goesOn) = (DocumentPosition?.none, true)
    while true {
      position = try read(at: version, in: database) { reader throws(BackendError) in
        try reader.scanMatches(of: query, after: position, rows: Self.slice) { document in
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
    at version: Int64, in database: DatabaseID, _ body: (DocumentReader) throws(BackendError) -> Result
  ) throws(RPCStatus) -> Result {
    do throws(BackendError) { return try log.read(database, at: version, body) } catch { throw error.status }
  }

  func readVersion(_ consistency: ReadConsistency, in database: DatabaseID) throws(RPCStatus) -> Int64 {
    do throws(BackendError) { return try version(of: consistency, in: database) } catch { throw error.status }
  }

  /// The version to read at. No later commit will get a version up to it.
  func version(of consistency: ReadConsistency, in database: DatabaseID) throws(BackendError) -> Int64 {
    let state = try log.state(of: database)
    switch consistency {
    case .latest: return state.version
    case .readTime(let time): return try version(of: time, state, in: database)
    case .transaction(let bytes):
      let id = try transactions.use(bytes, in: database, at: log.clock.microseconds)
      let version = transactions[id]?.version ?? state.version
      transactions[id]?.version = version
      if version < state.historyStart {
        throw .refused(.aborted, "What this transaction read is no longer kept. Please try again.")
      }
      return version
    }
  }

  private func version(
    of time: Timestamp, _ state: DatabaseState, in database: DatabaseID
  ) throws(BackendError) -> Int64 {
    guard time.nanoseconds % 1_000 == 0 else {
      throw .refused(.invalidArgument, "timestamp cannot have more than microseconds precision")
    }
    let now = log.clock.microseconds
    let version = time.microseconds
    guard version <= max(now, state.version) else {
      throw .refused(.invalidArgument, "The requested 'read_time' cannot be in the future.")
    }
    // The current state can be read however old it is.
    guard version >= state.version || (version >= now - DocumentHistory.kept && version >= state.historyStart) else {
      throw .refused(.failedPrecondition, "The requested 'read_time' is too old.")
    }
    try log.advance(database, to: version)
    return version
  }

  func record(_ consistency: ReadConsistency, _ change: (inout OpenTransaction) -> Void) {
    guard case .transaction(let bytes) = consistency, let id = TransactionID(bytes),
      var transaction = transactions[id], !transaction.isReadOnly
    else { return }
    change(&transaction)
    transactions[id] = transaction
  }
}

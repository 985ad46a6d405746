// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

/// The reading position in a query's result. The whole result has one version, even if it is read slowly.
///
/// ```
/// scan     the query's order is the storage order: only the next document is held
/// sorted   the documents are held in order; if they are large, only their sort fields are held, and each document is
///          looked up when it is returned
/// ```
package struct QueryCursor: Sendable {
  enum State: Sendable {
    /// - Parameters:
    ///   - skipping: the number of documents that the offset must still skip.
    ///   - needed: the largest number of documents still to return, including `next`.
    ///   - next: a document that was already found.
    case scan(after: DocumentPosition?, skipping: Int, needed: Int?, next: Document?)
    case sorted(ArraySlice<Document>, isThin: Bool, skipped: Int)
  }

  let request: ReadRequest
  let version: Int64
  var state: State
  /// The collections that the query reads; `nil` until they are looked up.
  var collections: [CollectionEntry]?

  init(request: ReadRequest, version: Int64, state: State) {
    self.request = request
    self.version = version
    self.state = state
  }

  /// Creates a cursor that returns looked-up documents in their order. If they exceed one piece, only their keys are
  /// retained, and the documents are looked up again at the same version.
  /// - Parameter readTime: the version of the documents.
  package init(
    of documents: [Document], at readTime: SnapshotVersion, _ consistency: ReadConsistency, in database: DatabaseID
  ) {
    let isThin = documents.reduce(0) { $0 + $1.storedSize } > QueryPiece.bytes
    let query = ServedQuery(Query(path: .root).target, scope: .descendants)
    self.init(
      request: ReadRequest(query, consistency, in: database), version: readTime.microseconds,
      state: .sorted((isThin ? documents.map(\.bare) : documents)[...], isThin: isThin, skipped: 0))
  }

  package var readTime: SnapshotVersion { SnapshotVersion(microseconds: version) }

  /// The error of a query whose version is no longer in the history.
  var expiry: RPCStatus? {
    switch request.consistency {
    case .latest: RPCStatus(.unavailable, "The version read by this query has expired. Please try again.")
    case .transaction: RPCStatus(.aborted, "The version read by this transaction has expired. Please try again.")
    case .readTime: nil
    }
  }
}

/// Some documents of a query's result, in its order.
package struct QueryPiece: Sendable {
  /// The size of a full piece's documents in bytes.
  static let bytes = 256 << 10

  package private(set) var documents: [Document] = []
  /// The number of results that the offset has skipped before these documents.
  package internal(set) var skipped = 0
  /// The approximate size in bytes of these documents, including the one retained for the next piece.
  package private(set) var size = 0

  /// Whether the piece should be sent before more is read. A full piece has at least two documents, so that one can be
  /// retained for the next piece.
  var isFull: Bool { size >= Self.bytes && documents.count > 1 }

  mutating func append(_ document: Document) {
    documents.append(document)
    size += document.storedSize
  }

  mutating func popLast() -> Document? { documents.popLast() }
}

extension Document {
  /// The approximate memory of the document in bytes: its fields, its key and the value itself.
  var storedSize: Int { (data?.encoded.bytes.count ?? 0) + key.path.text.utf8.count + 200 }

  /// The document without its fields.
  fileprivate var bare: Document {
    var document = self
    if exists { document.state = .found(DocumentData(Fields())) }
    return document
  }

  /// The document with only the target's sort fields.
  func thinned(for target: Target) -> Document {
    var fields = Fields()
    for order in target.orderBy where !order.path.isDocumentID {
      if let value = self[order.path] { fields[order.path] = value }
    }
    var document = self
    document.state = .found(DocumentData(fields))
    return document
  }
}

extension ServedQuery {
  /// Whether a scan in slices can answer the query, because the query's order is the storage order.
  var isScannedInPieces: Bool {
    scope == .target && target.collectionGroup == nil && target.orderBy == [OrderBy(.documentID)] && nearest == nil
      && target.limit != 0 && !target.isDocumentTarget && KeyRange(target).keys == nil
  }
}

/// Results in pieces. A client that reads slowly does not block the backend or fill its memory.
extension LocalBackend {
  /// The maximum size in bytes of a sorted result whose whole documents stay in memory. Documents of larger results are
  /// looked up again.
  private static let sortedBytes = 4 << 20
  /// The number of vectors compared in one step on the backend's actor.
  private static let vectors = 100

  /// Starts to read a query's result.
  package func open(_ request: ReadRequest) async throws(RPCStatus) -> QueryCursor {
    try await open(request, at: try begin(request), holding: Self.sortedBytes)
  }

  /// Starts to read all current documents of a database, in storage order.
  package func openAll(in database: DatabaseID) throws(RPCStatus) -> QueryCursor {
    let query = ServedQuery(Query(path: .root).target, scope: .descendants)
    let request = ReadRequest(query, in: database)
    let state = QueryCursor.State.scan(after: nil, skipping: 0, needed: nil, next: nil)
    return QueryCursor(request: request, version: try begin(request), state: state)
  }

  /// The names of a query's documents, in its order, without retaining the documents.
  package func keys(of request: ReadRequest) async throws(RPCStatus) -> [DocumentKey] {
    let version = try begin(request)
    return try await ordered(request.query, at: version, in: request.database, holding: 0).documents.map(\.key)
  }

  /// - Parameter bytes: the maximum size in bytes of all whole documents in a sorted result. Larger results contain
  ///   only sort fields.
  func open(_ request: ReadRequest, at version: Int64, holding bytes: Int) async throws(RPCStatus) -> QueryCursor {
    let query = request.query
    if query.isScannedInPieces {
      let state = QueryCursor.State.scan(after: nil, skipping: query.offset, needed: query.target.limit, next: nil)
      return QueryCursor(request: request, version: version, state: state)
    }
    if let search = query.nearest { return try await open(request, at: version, nearest: search, holding: bytes) }
    var (documents, isThin) = try await ordered(query, at: version, in: request.database, holding: bytes)
    let skipped = min(query.offset, documents.count)
    documents.removeFirst(skipped)
    return QueryCursor(
      request: request, version: version, state: .sorted(documents[...], isThin: isThin, skipped: skipped))
  }

  private func open(
    _ request: ReadRequest, at version: Int64, nearest search: NearestNeighbors, holding bytes: Int
  ) async throws(RPCStatus) -> QueryCursor {
    let query = request.query
    var (nearest, skipped) = (NearestDocuments(search, query.target, holding: bytes), 0)
    if query.needed == nil, query.offset == 0 {
      try await forEachMatch(of: query, at: version, in: request.database) { document in
        nearest.add(document)
        return true
      }
    } else {
      // Only the first documents in the query's order are compared with the vector, so they are sorted first.
      let (documents, _) = try await ordered(query, at: version, in: request.database, holding: .max)
      skipped = min(query.offset, documents.count)
      var rest = documents.dropFirst(skipped)
      while !rest.isEmpty {
        for document in rest.prefix(Self.vectors) { nearest.add(document) }
        rest = rest.dropFirst(Self.vectors)
        await pause()
        if Task.isCancelled { throw RPCStatus(.cancelled, "The request was cancelled.") }
      }
    }
    let (documents, isThin) = nearest.finish()
    return QueryCursor(
      request: request, version: version, state: .sorted(documents[...], isThin: isThin, skipped: skipped))
  }

  /// Reads the next documents of a result.
  /// - Returns: the documents, and the cursor after them; `nil` if no documents follow.
  /// - Throws: `unavailable`, or `aborted` in a transaction, if its version is no longer in the history.
  package func read(_ cursor: QueryCursor) async throws(RPCStatus) -> (piece: QueryPiece, rest: QueryCursor?) {
    switch cursor.state {
    case .scan(let position, let skipping, let needed, let next):
      try await scan(cursor, after: position, skipping: skipping, needed: needed, next)
    case .sorted(let documents, let isThin, let skipped):
      try lookUp(documents, isThin: isThin, skipped: skipped, cursor)
    }
  }

  private func scan(
    _ cursor: QueryCursor, after start: DocumentPosition?, skipping: Int, needed: Int?, _ next: Document?
  ) async throws(RPCStatus) -> (piece: QueryPiece, rest: QueryCursor?) {
    var (position, skipping, piece, collections) = (start, skipping, QueryPiece(), cursor.collections)
    if let next { piece.append(next) }
    while piece.documents.count != needed {
      position = try read(cursor) { reader throws(StoreError) in
        try reader.scanMatches(
          of: cursor.request.query, after: position, rows: Self.slice, in: &collections
        ) { document in
          if skipping > 0 {
            skipping -= 1
            piece.skipped += 1
            return true
          }
          piece.append(document)
          return !piece.isFull && piece.documents.count != needed
        }
      }
      if position == nil || piece.documents.count == needed { break }
      if piece.isFull, let next = piece.popLast() {
        var rest = cursor
        rest.collections = collections
        let left = needed.map { $0 - piece.documents.count }
        rest.state = .scan(after: position, skipping: 0, needed: left, next: next)
        return (piece, rest)
      }
      await pause()
      if Task.isCancelled { throw RPCStatus(.cancelled, "The request was cancelled.") }
    }
    return (piece, nil)
  }

  private func lookUp(
    _ documents: ArraySlice<Document>, isThin: Bool, skipped: Int, _ cursor: QueryCursor
  ) throws(RPCStatus) -> (piece: QueryPiece, rest: QueryCursor?) {
    var (piece, left) = (QueryPiece(), documents)
    piece.skipped = skipped
    func isEnough() -> Bool { piece.isFull || piece.documents.count == Self.slice }
    if isThin {
      try read(cursor) { reader throws(StoreError) in
        while !isEnough(), let thin = left.popFirst() {
          let document = try reader.document(thin.key)
          // The computed distance is not in the stored document.
          let added = cursor.request.query.nearest?.resultField.flatMap { path in thin[path].map { (path, $0) } }
          piece.append(added.map { document.setting($0, to: $1) } ?? document)
        }
      }
    } else {
      while !isEnough(), let document = left.popFirst() { piece.append(document) }
    }
    if left.isEmpty { return (piece, nil) }
    var rest = cursor
    rest.state = .sorted(left, isThin: isThin, skipped: 0)
    return (piece, rest)
  }

  private func read<Result>(
    _ cursor: QueryCursor, _ body: (DocumentReader) throws(StoreError) -> Result
  ) throws(RPCStatus) -> Result {
    do throws(RPCStatus) { return try read(at: cursor.version, in: cursor.request.database, body) } catch {
      throw error.code == .failedPrecondition ? cursor.expiry ?? error : error
    }
  }
}

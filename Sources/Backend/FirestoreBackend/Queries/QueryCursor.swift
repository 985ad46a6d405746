// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

/// The place up to which a query's result has been read. All of it is of one version, however long its reader takes.
///
/// ```
/// scan     storage order is the query's: nothing is held but the document that comes next
/// sorted   the documents in order or, where these are large, only what they are sorted by: they are looked up when
///          their turn comes
/// ```
package struct QueryCursor: Sendable {
  enum State: Sendable {
    /// - Parameters:
    ///   - skipping: the number of offset documents still to be skipped.
    ///   - needed: the largest number of documents still to be returned, `next` included.
    ///   - next: a document that was found already.
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

  /// A cursor before documents that were looked up, in their order. Those that come to more than a piece are not held: they
  /// are looked up again, as they were, when their turn comes.
  /// - Parameter readTime: the version at which they were looked up.
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

  /// The error of a query whose version the history does not reach back to any more.
  var expiry: RPCStatus? {
    switch request.consistency {
    case .latest: RPCStatus(.unavailable, "What this query began to read is no longer kept. Please try again.")
    case .transaction: RPCStatus(.aborted, "What this transaction read is no longer kept. Please try again.")
    case .readTime: nil
    }
  }
}

/// Some documents of a query's result, in its order.
package struct QueryPiece: Sendable {
  /// The size of the documents after which a piece is full, in bytes.
  static let bytes = 256 << 10

  package private(set) var documents: [Document] = []
  /// The number of results that the offset has skipped before these.
  package internal(set) var skipped = 0
  /// The approximate bytes of these documents and of the one that is kept back.
  package private(set) var size = 0

  /// Whether the piece should be sent before more is read. It then has a document that can be kept back.
  var isFull: Bool { size >= Self.bytes && documents.count > 1 }

  mutating func append(_ document: Document) {
    documents.append(document)
    size += document.storedSize
  }

  mutating func popLast() -> Document? { documents.popLast() }
}

extension Document {
  /// The approximate memory held for the document: the bytes of its fields, of its key and of the value itself.
  var storedSize: Int { (data?.encoded.bytes.count ?? 0) + key.path.text.utf8.count + 200 }

  /// The document without its fields.
  fileprivate var bare: Document {
    var document = self
    if exists { document.state = .found(DocumentData(Fields())) }
    return document
  }

  /// The document with the fields by which a target sorts it, and no others.
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
  /// Whether one scan can answer the query that can stop anywhere and go on from there: its order is that of storage.
  var isScannedInPieces: Bool {
    scope == .target && target.collectionGroup == nil && target.orderBy == [OrderBy(.documentID)] && nearest == nil
      && target.limit != 0 && !target.isDocumentTarget && KeyRange(target).keys == nil
  }
}

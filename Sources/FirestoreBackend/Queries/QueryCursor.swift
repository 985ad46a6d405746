// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

/// How far a query's result has been read. All of it is of one version, however long its reader takes.
///
/// ```
/// scan     storage order is the query's: nothing is held but the document that comes next
/// sorted   the documents in order or, where these are large, only what they are sorted by: they are looked up when
///          their turn comes
/// ```
package struct QueryCursor: Sendable {
  enum State: Sendable {
    /// - Parameters:
    ///   - skipping: how many of the offset are still to come.
    ///   - needed: how many documents are still to be returned at most, `next` included.
    ///   - next: a document that was found already.
    case scan(after: DocumentPosition?, skipping: Int, needed: Int?, next: Document?)
    case sorted(ArraySlice<Document>, isThin: Bool, skipped: Int)
  }

  let request: ReadRequest
  let version: Int64
  var state: State
  /// Where it looks, once that was looked up.
  var collections: [CollectionEntry]?

  package var readTime: SnapshotVersion { SnapshotVersion(microseconds: version) }

  /// Why the rest cannot be read, when the history does not reach back to its version any more.
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
  /// What a piece holds, but for its last document.
  static let bytes = 256 << 10

  package private(set) var documents: [Document] = []
  /// How many results the offset has left out before these.
  package internal(set) var skipped = 0
  private var size = 0

  /// Whether no more should be read before these are sent. There is one to be kept back then.
  var isFull: Bool { size >= Self.bytes && documents.count > 1 }

  mutating func append(_ document: Document) {
    documents.append(document)
    size += document.storedSize
  }

  mutating func popLast() -> Document? { documents.popLast() }
}

extension Document {
  /// What is held for it: the bytes of its fields, and about what its key and the value itself take.
  var storedSize: Int { (data?.encoded.bytes.count ?? 0) + key.path.text.utf8.count + 200 }

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
  /// Whether one scan answers it that stops anywhere and goes on from there: its order is that of storage.
  var isScannedInPieces: Bool {
    scope == .target && target.collectionGroup == nil && target.orderBy == [OrderBy(.documentID)] && nearest == nil
      && target.limit != 0 && !target.isDocumentTarget && KeyRange(target).keys == nil
  }
}

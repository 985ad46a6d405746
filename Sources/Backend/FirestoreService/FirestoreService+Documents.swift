// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

extension FirestoreService {
  func getDocument(_ bytes: [UInt8], on backend: isolated LocalBackend) throws(RPCStatus) -> [UInt8] {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.getDocumentRequest() }
    let (database, key) = try ResourceName.document(request.name)
    let mask = try FieldMask(request: request.mask)
    let (read, _) = try begin(request.consistency, in: database, on: backend)
    let document = try backend.lookup([key], read, in: database).documents[0]
    try access?.get([document], in: database, on: backend)
    guard document.exists else { throw RPCStatus(.notFound, "Document \"\(request.name)\" not found.") }
    return WireWriter.message { $0.document(document, DocumentNames(database), mask: mask) }
  }

  func createDocument(_ bytes: [UInt8], on backend: isolated LocalBackend) throws(RPCStatus) -> [UInt8] {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.createDocumentRequest() }
    if !request.document.name.isEmpty { throw .invalid("document.name must not be set") }
    let (database, path) = try ResourceName.parent(request.parent)
    try ResourceName.checkCollectionID(request.collectionID)
    let id = request.documentID.isEmpty ? AutomaticID.make() : request.documentID
    try ResourceName.checkDocumentID(id)
    let key = DocumentKey(unchecked: path.appending(request.collectionID).appending(id))
    try RequestReader.check(request.document.fields)
    let mutation = Mutation(key: key, operation: .set(request.document.fields), precondition: .exists(false))
    return try write(mutation, in: database, request.mask, on: backend)
  }

  func updateDocument(_ bytes: [UInt8], on backend: isolated LocalBackend) throws(RPCStatus) -> [UInt8] {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.updateDocumentRequest() }
    let (database, _) = try ResourceName.document(request.document.name)
    var write = WriteMessage(request.document)
    (write.mask, write.precondition) = (request.updateMask, request.precondition)
    return try self.write(try Mutation(request: write, in: database), in: database, request.mask, on: backend)
  }

  func deleteDocument(_ bytes: [UInt8], on backend: isolated LocalBackend) throws(RPCStatus) -> [UInt8] {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.deleteDocumentRequest() }
    let (database, key) = try ResourceName.document(request.name)
    try RequestReader.check(request.precondition)
    let mutation = Mutation(key: key, operation: .delete, precondition: request.precondition)
    try backend.commit([mutation], in: database, check: access?.commits)
    return []
  }

  /// Commits one write and responds with the document after that commit.
  private func write(
    _ mutation: Mutation, in database: DatabaseID, _ mask: [String]?, on backend: isolated LocalBackend
  ) throws(RPCStatus) -> [UInt8] {
    let mask = try FieldMask(request: mask)
    try backend.commit([mutation], in: database, check: access?.commits)
    let document = try backend.lookup([mutation.key], in: database).documents[0]
    return WireWriter.message { $0.document(document, DocumentNames(database), mask: mask) }
  }

  /// The maximum number of documents read in one step. Larger reads are done in slices, and wait for slow clients.
  private static let mostKeys = 20

  /// - Returns: `nil` for more documents than one step should read.
  func batchGetDocuments(_ bytes: [UInt8], on backend: isolated LocalBackend) throws(RPCStatus) -> [[UInt8]]? {
    let request = try BatchGet(bytes)
    if request.keys.count > Self.mostKeys { return nil }
    let (read, new) = try begin(request.consistency, in: request.database, on: backend)
    let (documents, readTime) = try backend.lookup(request.keys, read, in: request.database)
    try access?.get(documents, in: request.database, on: backend)
    return (new.map { [request.beginning($0)] } ?? []) + request.responses(request.sorted(documents), readTime)
  }

  func batchGetDocuments(_ bytes: [UInt8], to send: Send) async throws {
    let request = try BatchGet(bytes)
    let (read, new) = try await begin(request.consistency, in: request.database, on: backend)
    if let new { try await send([request.beginning(new)]) }
    var next = QueryCursor?.some(try await open(request, read))
    while let cursor = next {
      let (piece, rest) = try await backend.read(cursor)
      hold?(piece.size)
      for batch in request.responses(piece.documents, cursor.readTime).inBatches { try await send(batch) }
      next = rest
    }
  }

  /// Looks up the documents and checks whether the caller may read them. Existing documents come first, as in the real
  /// service.
  private func open(_ request: BatchGet, _ read: ReadConsistency) async throws(RPCStatus) -> QueryCursor {
    let (documents, readTime) = try await backend.documents(request.keys, read, in: request.database)
    try await access?.get(documents, in: request.database, on: backend)
    return QueryCursor(of: request.sorted(documents), at: readTime, read, in: request.database)
  }
}

/// A valid `BatchGetDocumentsRequest`.
private struct BatchGet {
  let database: DatabaseID
  /// The requested keys, without duplicates.
  private(set) var keys: [DocumentKey] = []
  let consistency: ConsistencySelector
  private let mask: FieldMask?

  init(_ bytes: [UInt8]) throws(RPCStatus) {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.batchGetRequest() }
    database = try ResourceName.database(request.database)
    mask = try FieldMask(request: request.mask)
    consistency = request.consistency
    var seen: Set<DocumentKey> = []
    for name in request.documents {
      let key = try ResourceName.document(name, in: database)
      if seen.insert(key).inserted { keys.append(key) }
    }
  }

  /// The documents in sending order: existing ones first, as in the real service.
  func sorted(_ documents: [Document]) -> [Document] {
    documents.filter(\.exists) + documents.filter { !$0.exists }
  }

  /// The message that returns the new transaction.
  func beginning(_ transaction: [UInt8]) -> [UInt8] {
    WireWriter.message { $0.batchGetResponse(ReadResponse(transaction: transaction), DocumentNames(database)) }
  }

  /// The messages of a response.
  func responses(_ documents: [Document], _ readTime: SnapshotVersion) -> [[UInt8]] {
    let names = DocumentNames(database)
    return documents.map { document in
      WireWriter.message {
        $0.batchGetResponse(ReadResponse(document: document, readTime: readTime), names, mask: mask)
      }
    }
  }
}

extension FirestoreService {
  /// The default and maximum page size.
  private static let maximumPageSize = 300
  /// The size of documents in bytes after which a page ends, so that one call does not keep 300 large documents in
  /// memory.
  static let pageBytes = 4 << 20

  func listDocuments(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.listDocumentsRequest() }
    let (database, parent) = try ResourceName.parent(request.parent)
    if request.pageSize < 0 { throw .invalid("Page size must be nonnegative.") }
    let mask = try FieldMask(request: request.mask)
    var query = RequestedQuery()
    query.orderBy = try request.orderings()
    if request.showMissing, !query.orderBy.isEmpty {
      throw .invalid("cannot specify an order when show_missing is true")
    }
    query.selectors = [RequestedQuery.Selector(collectionID: request.collectionID)]
    let limit = request.pageSize == 0 ? Self.maximumPageSize : min(request.pageSize, Self.maximumPageSize)
    query.limit = limit
    var served = try query.served(below: parent, in: database)
    let after = try request.position(orderings: served.target.orderBy.count)
    served.target.start = after
    if request.showMissing { try access?.checkIsAdmin("Metadata operations", in: database) }
    try await access?.list(served, query.orderBy, in: database, on: backend)
    let (read, _) = try await begin(request.consistency, in: database, on: backend)
    var (documents, isCut) = try await page(of: ReadRequest(served, read, in: database))
    if request.showMissing, !request.collectionID.isEmpty {
      let collection = parent.appending(request.collectionID)
      documents = try await addingMissing(
        to: documents, isCut: isCut, of: collection, after, limit, read, in: database)
    }
    isCut = isCut || documents.count == limit
    let last = isCut ? documents.last : nil
    let token = last.map { PageToken(after: $0, served.target.orderBy, database) }
    let page = DocumentPage(documents: documents, nextPageToken: token?.text ?? "")
    return WireWriter.message { $0.listDocumentsResponse(page, DocumentNames(database), mask: mask) }
  }

  /// - Returns: the documents, and whether the page ends before the end of the query's result.
  private func page(of request: ReadRequest) async throws(RPCStatus) -> (documents: [Document], isCut: Bool) {
    var (documents, bytes, next) = ([Document](), 0, QueryCursor?.some(try await backend.open(request)))
    while let cursor = next, bytes < Self.pageBytes {
      let (piece, rest) = try await backend.read(cursor)
      documents += piece.documents
      bytes += piece.documents.reduce(0) { $0 + ($1.data?.encoded.bytes.count ?? 0) }
      next = rest
    }
    return (documents, next != nil)
  }

  /// Adds missing documents to a list of existing documents, in key order. A missing document is added if there are
  /// documents below it.
  private func addingMissing(
    to documents: [Document], isCut: Bool, of collection: ResourcePath, _ after: Bound?, _ limit: Int,
    _ read: ReadConsistency,
    in database: DatabaseID
  ) async throws(RPCStatus) -> [Document] {
    var parents = try await backend.parents(in: collection, read, in: database)
    if case .reference(_, let key)? = after?.values.first { parents.removeAll { $0 <= key } }
    if isCut || documents.count == limit, let last = documents.last { parents.removeAll { $0 > last.key } }
    var missing = try await backend.documents(parents, read, in: database).documents.filter { !$0.exists }
    // Missing documents have only a name in the response.
    for index in missing.indices { missing[index].version = nil }
    return Array((documents + missing).sorted { $0.key < $1.key }.prefix(limit))
  }

  func listCollectionIDs(_ bytes: [UInt8], on backend: isolated LocalBackend) throws(RPCStatus) -> [UInt8] {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.listCollectionIDsRequest() }
    let (database, parent) = try ResourceName.parent(request.parent)
    if request.pageSize < 0 { throw .invalid("Page size must be nonnegative.") }
    try access?.checkIsAdmin("Metadata operations", in: database)
    let (read, _) = try begin(request.consistency, in: database, on: backend)
    var ids = try backend.collectionIDs(below: parent, read, in: database)
    if !request.pageToken.isEmpty {
      guard let bytes = Hexadecimal.bytes(request.pageToken) else { throw .invalid("invalid page token") }
      ids.removeAll { id in !bytes.lexicographicallyPrecedes(id.utf8) }
    }
    var page = CollectionIDPage(
      ids: request.pageSize == 0 ? ids : Array(ids.prefix(Int(clamping: request.pageSize))))
    if page.ids.count < ids.count, let last = page.ids.last {
      page.nextPageToken = Hexadecimal.text(Array(last.utf8))
    }
    return WireWriter.message { $0.listCollectionIDsResponse(page) }
  }
}

extension ListDocumentsMessage {
  /// Parses orderings such as `a desc, b.c, __name__`.
  fileprivate func orderings() throws(RPCStatus) -> [OrderBy] {
    if orderBy.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }) { return [] }
    var result: [OrderBy] = []
    for part in orderBy.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(separator: " ")
      guard let name = words.first, words.count <= 2 else { throw invalidOrder }
      var direction = OrderBy.Direction.ascending
      if words.count == 2 {
        switch words[1].lowercased() {
        case "asc": break
        case "desc": direction = .descending
        default: throw invalidOrder
        }
      }
      result.append(OrderBy(try FieldPath(request: String(name)), direction))
    }
    return result
  }

  private var invalidOrder: RPCStatus {
    .invalid("invalid order_by: \(orderBy). It is a list such as \"a desc, __name__\".")
  }

  /// The start position of the page.
  fileprivate func position(orderings count: Int) throws(RPCStatus) -> Bound? {
    if pageToken.isEmpty { return nil }
    guard let token = PageToken(pageToken), token.values.count == count else { throw .invalid("invalid page token") }
    return Bound(values: token.values, isInclusive: false)
  }
}

/// The position after a page: the ordering values of its last document, as a cursor in hexadecimal.
private struct PageToken {
  let values: [Value]

  init(after document: Document, _ orderBy: [OrderBy], _ database: DatabaseID) {
    values = orderBy.map { order in
      order.path.isDocumentID ? .reference(database, document.key) : document[order.path] ?? .null
    }
  }

  init?(_ text: String) {
    // Clients must return tokens unchanged, so all other texts get the same error.
    guard let bytes = Hexadecimal.bytes(text),
      let cursor = try? WireReader.read(bytes, { reader throws(WireError) in try reader.cursor() }),
      case .reference? = cursor.values.last, cursor.values.allSatisfy({ $0.invalidTimestamp == nil })
    else { return nil }
    values = cursor.values
  }

  var text: String { Hexadecimal.text(WireWriter.message { $0.cursor(values, before: false) }) }
}

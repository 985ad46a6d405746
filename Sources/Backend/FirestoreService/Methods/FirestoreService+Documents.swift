// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol

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

  /// Commits one write and answers with the document as that commit left it.
  private func write(
    _ mutation: Mutation, in database: DatabaseID, _ mask: [String]?, on backend: isolated LocalBackend
  ) throws(RPCStatus) -> [UInt8] {
    let mask = try FieldMask(request: mask)
    try backend.commit([mutation], in: database, check: access?.commits)
    let document = try backend.lookup([mutation.key], in: database).documents[0]
    return WireWriter.message { $0.document(document, DocumentNames(database), mask: mask) }
  }

  /// The number of documents up to which one step reads them; reads of more are sliced, and wait for a slow client.
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

  /// Looks the documents up and asks whether the caller may get them. Existing ones come first, as at the real service.
  private func open(_ request: BatchGet, _ read: ReadConsistency) async throws(RPCStatus) -> QueryCursor {
    let (documents, readTime) = try await backend.documents(request.keys, read, in: request.database)
    try await access?.get(documents, in: request.database, on: backend)
    return QueryCursor(of: request.sorted(documents), at: readTime, read, in: request.database)
  }
}

/// A `BatchGetDocumentsRequest` that is valid.
private struct BatchGet {
  let database: DatabaseID
  /// The requested keys, each once.
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

  /// The documents in the order in which they are sent: existing ones first, as at the real service.
  func sorted(_ documents: [Document]) -> [Document] {
    documents.filter(\.exists) + documents.filter { !$0.exists }
  }

  /// The message that names a transaction which the request began.
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

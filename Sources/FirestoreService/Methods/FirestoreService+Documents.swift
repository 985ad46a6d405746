// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol

extension FirestoreService {
  func getDocument(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    let request = try GetDocumentRequest(bytes)
    let (read, _) = try await begin(request.consistency, in: request.database)
    return try request.response(try await backend.documents([request.key], read, in: request.database).documents[0])
  }

  func createDocument(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    var (parent, collectionID, documentID) = ("", "", "")
    var (document, mask) = (RequestedDocument(name: "", fields: Fields()), FieldMask?.none)
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: parent = try field.string() ?? parent
        case 2: collectionID = try field.string() ?? collectionID
        case 3: documentID = try field.string() ?? documentID
        case 4: document = try field.document() ?? document
        case 5: mask = try field.mask() ?? mask
        default: break
        }
      }
    }
    if !document.name.isEmpty { throw RPCStatus(.invalidArgument, "document.name must not be set") }
    let (database, path) = try ResourceName.parent(parent)
    try ResourceName.checkCollectionID(collectionID)
    if documentID.isEmpty { documentID = Self.makeDocumentID() } else { try ResourceName.checkDocumentID(documentID) }
    let key = DocumentKey(unchecked: path.appending(collectionID).appending(documentID))
    let mutation = Mutation(key: key, operation: .set(document.fields), precondition: .exists(false))
    return try await write(mutation, in: database, mask)
  }

  func updateDocument(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    var (document, mask) = (RequestedDocument(name: "", fields: Fields()), FieldMask?.none)
    var (updateMask, precondition) = (FieldMask?.none, Precondition.none)
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: document = try field.document() ?? document
        case 2: updateMask = try field.mask() ?? updateMask
        case 3: mask = try field.mask() ?? mask
        case 4: precondition = try field.precondition() ?? precondition
        default: break
        }
      }
    }
    let (database, key) = try ResourceName.document(document.name)
    let operation: Mutation.Operation = updateMask.map { .patch(document.fields, $0) } ?? .set(document.fields)
    return try await write(Mutation(key: key, operation: operation, precondition: precondition), in: database, mask)
  }

  func deleteDocument(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    var (name, precondition) = ("", Precondition.none)
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: name = try field.string() ?? name
        case 2: precondition = try field.precondition() ?? precondition
        default: break
        }
      }
    }
    let (database, key) = try ResourceName.document(name)
    try await backend.commit([Mutation(key: key, operation: .delete, precondition: precondition)], in: database)
    return []
  }

  /// Commits one write and answers with the document as that commit left it, whatever has happened to it since.
  private func write(
    _ mutation: Mutation, in database: DatabaseID, _ mask: FieldMask?
  ) async throws(RPCStatus) -> [UInt8] {
    let time = try await backend.commit([mutation], in: database).commitTime.timestamp
    let (documents, _) = try await backend.documents([mutation.key], .readTime(time), in: database)
    return message { $0.document(documents[0], in: database, mask: mask) }
  }

  /// Twenty letters and digits, as SDKs make them.
  private static func makeDocumentID() -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<20).map { _ in letters[Int.random(in: letters.indices)] })
  }

  func batchGetDocuments(_ bytes: [UInt8], to send: Send) async throws {
    let request = try BatchGetRequest(bytes)
    let (read, new) = try await begin(request.consistency, in: request.database)
    if let new {
      let beginning = ReadResponse(transaction: new)
      try await send([message { $0.batchGetResponse(beginning, DocumentNames(request.database)) }])
    }
    let (documents, readTime) = try await backend.documents(request.keys, read, in: request.database)
    for batch in request.responses(documents, readTime).inBatches { try await send(batch) }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

// The calls for a single document.

package struct GetDocumentMessage: Sendable {
  package var name = ""
  /// The fields to return; `nil` for all. The masks of the other calls have the same meaning.
  package var mask: [String]?
  package var consistency = ConsistencySelector.latest
}

package struct CreateDocumentMessage: Sendable {
  package var parent = ""
  package var collectionID = ""
  /// The id for the new document; empty to let the server choose an id.
  package var documentID = ""
  package var document = DocumentMessage()
  package var mask: [String]?
}

package struct UpdateDocumentMessage: Sendable {
  package var document = DocumentMessage()
  /// The fields to write; `nil` to write the whole document.
  package var updateMask: [String]?
  package var mask: [String]?
  package var precondition = Precondition.none
}

package struct DeleteDocumentMessage: Sendable {
  package var name = ""
  package var precondition = Precondition.none
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.GetDocumentRequest`.
  package mutating func getDocumentRequest() throws(WireError) -> GetDocumentMessage {
    var request = GetDocumentMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.name = try string()
      case (2, .lengthDelimited): request.mask = try documentMask()
      case (3, .lengthDelimited): request.consistency = .transaction(try byteArray())
      case (5, .lengthDelimited): request.consistency = .readTime(try timestamp())
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// Reads the content of a `google.firestore.v1.CreateDocumentRequest`.
  package mutating func createDocumentRequest() throws(WireError) -> CreateDocumentMessage {
    var request = CreateDocumentMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.parent = try string()
      case (2, .lengthDelimited): request.collectionID = try string()
      case (3, .lengthDelimited): request.documentID = try string()
      case (4, .lengthDelimited): request.document = try documentMessage()
      case (5, .lengthDelimited): request.mask = try documentMask()
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// Reads the content of a `google.firestore.v1.UpdateDocumentRequest`.
  package mutating func updateDocumentRequest() throws(WireError) -> UpdateDocumentMessage {
    var request = UpdateDocumentMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.document = try documentMessage()
      case (2, .lengthDelimited): request.updateMask = try documentMask()
      case (3, .lengthDelimited): request.mask = try documentMask()
      case (4, .lengthDelimited): request.precondition = try precondition()
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// Reads the content of a `google.firestore.v1.DeleteDocumentRequest`.
  package mutating func deleteDocumentRequest() throws(WireError) -> DeleteDocumentMessage {
    var request = DeleteDocumentMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.name = try string()
      case (2, .lengthDelimited): request.precondition = try precondition()
      default: try skip(tag.type)
      }
    }
    return request
  }
}

package struct BatchGetMessage: Sendable {
  package var database = ""
  package var documents: [String] = []
  package var mask: [String]?
  package var consistency = ConsistencySelector.latest
}

/// One response message of BatchGetDocuments or RunQuery.
package struct ReadResponse: Sendable {
  /// The document, which is `found`, or `missing` at the read time; `nil` if the message contains none.
  package var document: Document?
  /// The id of the transaction that the request began. Only the first response contains it.
  package var transaction: [UInt8]
  package var readTime: SnapshotVersion?
  /// The number of results, before this one, that were skipped because of the query's offset.
  package var skipped: Int
  /// Whether the query has no further results.
  package var isDone: Bool

  package init(
    document: Document? = nil, transaction: [UInt8] = [], readTime: SnapshotVersion? = nil, skipped: Int = 0,
    isDone: Bool = false
  ) {
    self.document = document
    self.transaction = transaction
    self.readTime = readTime
    self.skipped = skipped
    self.isDone = isDone
  }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.BatchGetDocumentsRequest`.
  package mutating func batchGetRequest(
    _ keys: [DocumentKey], _ view: ReadView = .latest, in database: DatabaseID
  ) {
    let names = DocumentNames(database)
    field(1, string: database.name)
    for key in keys { names.write(key, as: 2, to: &self) }
    if let projection = view.projection {
      field(3) { mask in for path in projection.wireTexts { mask.field(1, string: path) } }
    }
    if let time = view.time { field(7, timestamp: time.timestamp) }
  }

  /// Writes the content of a `google.firestore.v1.BatchGetDocumentsResponse`.
  /// - Parameter mask: the fields to send; `nil` to send all fields.
  package mutating func batchGetResponse(_ response: ReadResponse, _ names: DocumentNames, mask: FieldMask? = nil) {
    if let document = response.document {
      if document.exists {
        field(1) { $0.document(document, names, mask: mask) }
      } else {
        names.write(document.key, as: 2, to: &self)
      }
    }
    if !response.transaction.isEmpty { field(3, bytes: response.transaction) }
    if let readTime = response.readTime { field(4, timestamp: readTime.timestamp) }
  }
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.BatchGetDocumentsRequest`.
  package mutating func batchGetRequest() throws(WireError) -> BatchGetMessage {
    var request = BatchGetMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.database = try string()
      case (2, .lengthDelimited): request.documents.append(try string())
      case (3, .lengthDelimited): request.mask = try documentMask()
      case (4, .lengthDelimited): request.consistency = .transaction(try byteArray())
      case (5, .lengthDelimited): request.consistency = .newTransaction(try transactionOptions())
      case (7, .lengthDelimited): request.consistency = .readTime(try timestamp())
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// Reads the content of a `google.firestore.v1.BatchGetDocumentsResponse`.
  package mutating func batchGetResponse(_ names: DocumentNames) throws(WireError) -> ReadResponse {
    var response = ReadResponse()
    var missing: DocumentKey?
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): response.document = try document(names)
      case (2, .lengthDelimited): missing = try names.key(try lengthDelimited())
      case (3, .lengthDelimited): response.transaction = try byteArray()
      case (4, .lengthDelimited): response.readTime = SnapshotVersion(try timestamp())
      default: try skip(tag.type)
      }
    }
    if let missing { response.document = Document(key: missing, version: response.readTime, state: .missing) }
    return response
  }
}

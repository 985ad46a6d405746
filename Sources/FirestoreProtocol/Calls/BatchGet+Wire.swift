// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension WireWriter {
  /// The content of a `google.firestore.v1.BatchGetDocumentsRequest` for the newest documents.
  package mutating func batchGetRequest(_ keys: [DocumentKey], in database: DatabaseID) {
    let names = DocumentNames(database)
    field(1, string: database.name)
    for key in keys { names.write(key, as: 2, to: &self) }
  }

  /// The content of a `google.firestore.v1.BatchGetDocumentsResponse`.
  /// - Parameter mask: the fields to send; all for `nil`.
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
  /// The content of a `google.firestore.v1.BatchGetDocumentsResponse`.
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

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One message of BatchGetDocuments or RunQuery, as far as a client needs it.
package struct ReadResponse: Sendable {
  /// `found`, or `missing` at the read time.
  package var document: Document?
  package var transaction: [UInt8] = []
  package var readTime: SnapshotVersion?

  package init(document: Document? = nil, transaction: [UInt8] = [], readTime: SnapshotVersion? = nil) {
    self.document = document
    self.transaction = transaction
    self.readTime = readTime
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

  /// The content of a `google.firestore.v1.RunQueryResponse`.
  package mutating func runQueryResponse(_ names: DocumentNames) throws(WireError) -> ReadResponse {
    var response = ReadResponse()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): response.document = try document(names)
      case (2, .lengthDelimited): response.transaction = try byteArray()
      case (3, .lengthDelimited): response.readTime = SnapshotVersion(try timestamp())
      default: try skip(tag.type)
      }
    }
    return response
  }
}

extension WireWriter {
  /// The content of a `google.firestore.v1.BatchGetDocumentsResponse`.
  package mutating func batchGetResponse(_ response: ReadResponse, _ names: DocumentNames) {
    if let document = response.document {
      if document.exists { field(1, document: document, names) } else { names.write(document.key, as: 2, to: &self) }
    }
    if !response.transaction.isEmpty { field(3, bytes: response.transaction) }
    if let readTime = response.readTime { field(4, timestamp: readTime.timestamp) }
  }

  /// The content of a `google.firestore.v1.RunQueryResponse`; `done` and `skipped_results` are not sent.
  package mutating func runQueryResponse(_ response: ReadResponse, _ names: DocumentNames) {
    if let document = response.document { field(1, document: document, names) }
    if !response.transaction.isEmpty { field(2, bytes: response.transaction) }
    if let readTime = response.readTime { field(3, timestamp: readTime.timestamp) }
  }
}

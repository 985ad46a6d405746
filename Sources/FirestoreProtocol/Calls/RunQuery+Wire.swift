// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

extension WireWriter {
  /// The content of a `google.firestore.v1.RunQueryRequest` for the newest documents, or of a `Target.QueryTarget`.
  /// - Precondition: not a document target.
  package mutating func runQueryRequest(_ target: Target, in database: DatabaseID) {
    parent(1, of: target, in: database)
    field(2) { $0.structuredQuery(of: target) }
  }

  /// A field with the name of the document that a query starts from, or of the root.
  mutating func parent(_ number: Int, of target: Target, in database: DatabaseID) {
    field(number, string: database.name(of: target.collectionGroup == nil ? target.path.parent : target.path))
  }

  /// The content of the `google.firestore.v1.StructuredQuery` that a backend is asked; its limit is an `int32` there.
  mutating func structuredQuery(of target: Target) {
    var query = target.query
    query.limit = query.limit.map { Int(Int32(clamping: $0)) }
    structuredQuery(query)
  }

  /// The content of a `google.firestore.v1.RunQueryResponse`; `done` and `skipped_results` are not sent.
  package mutating func runQueryResponse(_ response: ReadResponse, _ names: DocumentNames) {
    if let document = response.document { field(1) { $0.document(document, names) } }
    if !response.transaction.isEmpty { field(2, bytes: response.transaction) }
    if let readTime = response.readTime { field(3, timestamp: readTime.timestamp) }
  }
}

extension WireReader {
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

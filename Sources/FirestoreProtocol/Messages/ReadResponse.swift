// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One message of BatchGetDocuments or RunQuery.
package struct ReadResponse: Sendable {
  /// `found`, or `missing` at the read time.
  package var document: Document?
  /// The transaction that the request began, in its first answer.
  package var transaction: [UInt8] = []
  package var readTime: SnapshotVersion?

  package init(document: Document? = nil, transaction: [UInt8] = [], readTime: SnapshotVersion? = nil) {
    self.document = document
    self.transaction = transaction
    self.readTime = readTime
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// An existing document as it stands in the database. Times are microseconds since the epoch.
struct StoredDocument: Sendable {
  var key: DocumentKey
  var version: Int64
  var created: Int64
  var fields: EncodedFields

  var document: Document {
    Document(
      key: key, version: SnapshotVersion(microseconds: version), createTime: SnapshotVersion(microseconds: created),
      state: .found(DocumentData(encoded: fields)))
  }
}

/// The position of a document in the store's key order: collection by collection, then by name.
struct DocumentPosition: Hashable, Comparable, Sendable {
  var collection: Int64
  var name: DocumentName

  static func < (left: DocumentPosition, right: DocumentPosition) -> Bool {
    left.collection == right.collection ? left.name < right.name : left.collection < right.collection
  }
}

/// The effect of one commit on one document.
struct DocumentTransition: Sendable {
  var key: DocumentKey
  var position: DocumentPosition
  var before: Document?
  /// `found`, or `missing` at the version of the deletion.
  var after: Document
}

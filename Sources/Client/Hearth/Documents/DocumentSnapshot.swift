// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

/// The last known state of a document at one point in time. The document may not exist.
///
/// `DocumentSnapshot` is a protocol in Hearth, but a class in the official SDK. `QueryDocumentSnapshot` is a snapshot
/// of an existing document.
public protocol DocumentSnapshot: Sendable {
  /// The content of the snapshot.
  var content: DocumentContent { get }
}

/// The content of a document snapshot, whose data is decoded on demand.
public struct DocumentContent: Sendable {
  let firestore: Firestore
  let key: DocumentKey
  let document: Document?
  let metadata: SnapshotMetadata
}

/// The snapshot that a document listener or `getDocument` returns.
struct SingleDocumentSnapshot: DocumentSnapshot {
  let content: DocumentContent
}

extension Firestore {
  /// A snapshot of the backend's version of a document.
  package func snapshot(atBackend document: Document) -> any DocumentSnapshot {
    SingleDocumentSnapshot(
      content: DocumentContent(
        firestore: self, key: document.key, document: document,
        metadata: SnapshotMetadata(hasPendingWrites: false, isFromCache: false, causes: [])))
  }
}

extension DocumentSnapshot {
  /// Whether the document is known to exist.
  public var exists: Bool { content.document?.exists ?? false }
  /// The reference to the document.
  public var reference: DocumentReference {
    DocumentReference(firestore: content.firestore, key: .success(content.key))
  }
  /// The last segment of the document's path.
  public var documentID: String { content.key.documentID }
  /// Information about the origin of the data.
  public var metadata: SnapshotMetadata { content.metadata }

  /// All fields; `nil` if the document does not exist.
  public func data() -> [String: Any]? { data(with: .none) }

  /// All fields; `nil` if the document does not exist.
  /// - Parameter serverTimestampBehavior: the value of a server timestamp until the backend has set it.
  public func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any]? {
    guard let data = content.document?.data else { return nil }
    return ValueDecoder(firestore: content.firestore, behavior: serverTimestampBehavior).dictionary(data.fields)
  }

  /// The value of one field, decoded separately; `nil` if the field is missing or its name is invalid.
  public func get(_ field: some FieldName) -> Any? { get(field, serverTimestampBehavior: .none) }

  /// The value of one field; `nil` if the field is missing or its name is invalid.
  /// - Parameter serverTimestampBehavior: the value of a server timestamp until the backend has set it.
  public func get(_ field: some FieldName, serverTimestampBehavior: ServerTimestampBehavior) -> Any? {
    guard let document = content.document, let path = try? field.modelPath() else { return nil }
    let decoder = ValueDecoder(firestore: content.firestore, behavior: serverTimestampBehavior)
    if path.isDocumentID { return decoder.any(.reference(content.firestore.database, content.key)) }
    return document[path].map(decoder.any)
  }

  /// The value of one field, as `get(_:)` returns it.
  public subscript(_ field: some FieldName) -> Any? {
    get { self.get(field) }
  }

  /// Whether both snapshots have the same key and data, regardless of metadata.
  fileprivate func isEqual(to other: some DocumentSnapshot) -> Bool {
    content.firestore === other.content.firestore && content.key == other.content.key
      && content.document?.data == other.content.document?.data
  }
}

/// Whether both snapshots show the same document with the same data, regardless of metadata.
public func == (left: any DocumentSnapshot, right: any DocumentSnapshot) -> Bool {
  left.isEqual(to: right)
}

/// A snapshot of an existing document in a query's result.
public struct QueryDocumentSnapshot: DocumentSnapshot {
  /// The content of the snapshot.
  public let content: DocumentContent

  /// All fields.
  public func data() -> [String: Any] { data(with: .none) }

  /// All fields.
  /// - Parameter serverTimestampBehavior: the value of a server timestamp until the backend has set it.
  public func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any] {
    guard let data = content.document?.data else { return [:] }
    return ValueDecoder(firestore: content.firestore, behavior: serverTimestampBehavior).dictionary(data.fields)
  }
}

extension QueryDocumentSnapshot: Equatable {
  /// Whether both snapshots show the same document with the same data, regardless of metadata.
  public static func == (left: QueryDocumentSnapshot, right: QueryDocumentSnapshot) -> Bool { left.isEqual(to: right) }
}

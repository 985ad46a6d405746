// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// What is known about a document at one moment; the document may not exist.
///
/// A protocol where the official SDK has a class: `QueryDocumentSnapshot` is one whose document exists.
public protocol DocumentSnapshot: Sendable {
  /// What the snapshot holds.
  var content: DocumentContent { get }
}

/// What a document snapshot holds. Data is decoded when it is asked for.
public struct DocumentContent: Sendable {
  let firestore: Firestore
  let key: DocumentKey
  let document: Document?
  let metadata: SnapshotMetadata
}

/// The snapshot of a document listener or `getDocument`.
struct SingleDocumentSnapshot: DocumentSnapshot {
  let content: DocumentContent
}

extension DocumentSnapshot {
  /// Whether there is such a document, as far as is known.
  public var exists: Bool { content.document?.exists ?? false }
  /// The document's place.
  public var reference: DocumentReference {
    DocumentReference(firestore: content.firestore, key: .success(content.key))
  }
  /// The last segment of its path.
  public var documentID: String { content.key.documentID }
  /// Where the data comes from.
  public var metadata: SnapshotMetadata { content.metadata }

  /// All fields; `nil` if the document does not exist.
  public func data() -> [String: Any]? { data(with: .none) }

  /// - Parameter serverTimestampBehavior: what stands for a time that the backend has not set yet.
  public func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any]? {
    guard let data = content.document?.data else { return nil }
    return ValueDecoder(firestore: content.firestore, behavior: serverTimestampBehavior).dictionary(data.fields)
  }

  /// One field's value, read without decoding the others; `nil` if there is none or the name is wrong.
  public func get(_ field: some FieldName) -> Any? { get(field, serverTimestampBehavior: .none) }

  /// - Parameter serverTimestampBehavior: what stands for a time that the backend has not set yet.
  public func get(_ field: some FieldName, serverTimestampBehavior: ServerTimestampBehavior) -> Any? {
    guard let document = content.document, let path = try? field.modelPath() else { return nil }
    let decoder = ValueDecoder(firestore: content.firestore, behavior: serverTimestampBehavior)
    if path.isDocumentID { return decoder.any(.reference(content.firestore.database, content.key)) }
    return document[path].map(decoder.any)
  }

  /// As `get(_:)`.
  public subscript(_ field: some FieldName) -> Any? {
    get { self.get(field) }
  }

  /// Key and data decide, metadata does not.
  fileprivate func isEqual(to other: some DocumentSnapshot) -> Bool {
    content.firestore === other.content.firestore && content.key == other.content.key
      && content.document?.data == other.content.document?.data
  }
}

/// Whether both show the same document with the same data; metadata does not matter.
public func == (left: any DocumentSnapshot, right: any DocumentSnapshot) -> Bool {
  left.isEqual(to: right)
}

/// A document of a query's result: it exists.
public struct QueryDocumentSnapshot: DocumentSnapshot {
  /// What the snapshot holds.
  public let content: DocumentContent

  /// All fields.
  public func data() -> [String: Any] { data(with: .none) }

  /// - Parameter serverTimestampBehavior: what stands for a time that the backend has not set yet.
  public func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any] {
    guard let data = content.document?.data else { return [:] }
    return ValueDecoder(firestore: content.firestore, behavior: serverTimestampBehavior).dictionary(data.fields)
  }
}

extension QueryDocumentSnapshot: Equatable {
  /// The same document with the same data; metadata does not matter.
  public static func == (left: QueryDocumentSnapshot, right: QueryDocumentSnapshot) -> Bool { left.isEqual(to: right) }
}

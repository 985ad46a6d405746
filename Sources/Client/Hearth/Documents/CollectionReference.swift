// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// A reference to a collection, and the query for all of its documents.
///
/// You can create a reference with an invalid path, but every call that uses the reference fails with
/// `invalidArgument`.
public struct CollectionReference: Query {
  /// The database of the collection.
  public let firestore: Firestore
  let resourcePath: Result<ResourcePath, FirestoreError>

  init(firestore: Firestore, path: Result<ResourcePath, FirestoreError>) {
    self.firestore = firestore
    resourcePath = path
  }

  /// The query for all documents of the collection.
  public var definition: QueryDefinition {
    QueryDefinition(firestore: firestore, query: resourcePath.map { FirestoreQuery.Query(path: $0) })
  }

  /// The last segment of the path; empty for an invalid path.
  public var collectionID: String { (try? resourcePath.get())?.last ?? "" }

  /// The path, slash-separated and relative to the database; empty for an invalid path.
  public var path: String { (try? resourcePath.get())?.text ?? "" }

  /// The document that contains this subcollection; `nil` if the collection is at the root.
  public var parent: DocumentReference? {
    guard let path = try? resourcePath.get(), let key = DocumentKey(path.parent) else { return nil }
    return DocumentReference(firestore: firestore, key: .success(key))
  }

  /// A reference to a new document in the collection. Its id consists of 20 random letters and digits.
  public func document() -> DocumentReference {
    document(firestore.app.backend.surroundings.documentID())
  }

  /// A reference to a document in the collection, or at any level below it.
  /// - Parameter documentPath: an odd number of segments, relative to the collection.
  public func document(_ documentPath: String) -> DocumentReference {
    DocumentReference(
      firestore: firestore,
      key: resourcePath.flatMap { ReferencePath.document(documentPath, below: $0) })
  }
}

extension CollectionReference: Hashable {
  /// Whether both references have the same database and path.
  public static func == (left: CollectionReference, right: CollectionReference) -> Bool {
    left.firestore === right.firestore && left.resourcePath == right.resourcePath
  }

  /// Hashes the path.
  public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

extension CollectionReference: CustomStringConvertible {
  /// The reference as text, such as `CollectionReference(cities)`.
  public var description: String { "CollectionReference(\(path))" }
}

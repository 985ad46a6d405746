// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Names a document, whether it exists or not.
///
/// A reference made from a wrong path is a value like any other; every call on it fails with `invalidArgument`.
public struct DocumentReference: Sendable {
  /// The database that the document is in.
  public let firestore: Firestore
  let key: Result<DocumentKey, FirestoreError>

  /// The last segment of the path; empty for a reference made from a wrong path.
  public var documentID: String { (try? key.get())?.documentID ?? "" }

  /// The path, slash-separated and relative to the database; empty for a reference made from a wrong path.
  public var path: String { (try? key.get())?.path.text ?? "" }

  /// The collection that holds the document.
  public var parent: CollectionReference {
    CollectionReference(firestore: firestore, path: key.map(\.collection))
  }

  /// A collection below the document.
  /// - Parameter collectionPath: an odd number of segments, relative to the document.
  public func collection(_ collectionPath: String) -> CollectionReference {
    CollectionReference(
      firestore: firestore,
      path: key.flatMap { ReferencePath.collection(collectionPath, below: $0.path) })
  }
}

extension Firestore {
  /// The key of a document of this instance.
  /// - Throws: `invalidArgument` for a reference with a wrong path, or of another instance.
  func key(of document: DocumentReference) throws(FirestoreError) -> DocumentKey {
    let key = try document.key.get()
    guard document.firestore === self else {
      throw .invalidArgument(
        "The document reference \(document.path) is from a different Firestore instance; make it with this one.")
    }
    return key
  }
}

extension DocumentReference: Hashable {
  /// Whether both have the same database and path.
  public static func == (left: DocumentReference, right: DocumentReference) -> Bool {
    left.firestore === right.firestore && left.key == right.key
  }

  /// Hashes the path.
  public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

extension DocumentReference: CustomStringConvertible {
  /// The reference as text, such as `DocumentReference(cities/SF)`.
  public var description: String { "DocumentReference(\(path))" }
}

/// Checks paths that users write.
enum ReferencePath {
  static func collection(_ text: String, below parent: ResourcePath) -> Result<ResourcePath, FirestoreError> {
    joined(text, below: parent, kind: "collection").flatMap { path in
      path.isCollection
        ? .success(path)
        : .failure(
          .invalidArgument("A collection path has an odd number of segments, but \"\(path)\" has \(path.count)."))
    }
  }

  static func document(_ text: String, below parent: ResourcePath) -> Result<DocumentKey, FirestoreError> {
    joined(text, below: parent, kind: "document").flatMap { path in
      guard let key = DocumentKey(path) else {
        return .failure(
          .invalidArgument("A document path has an even number of segments, but \"\(path)\" has \(path.count)."))
      }
      return .success(key)
    }
  }

  /// The id of a collection group.
  static func collectionID(_ text: String) -> Result<String, FirestoreError> {
    if text.isEmpty { return .failure(.invalidArgument("A collection id must not be empty.")) }
    if text.utf8.contains(UInt8(ascii: "/")) {
      return .failure(.invalidArgument("The collection id \"\(text)\" must not contain a slash."))
    }
    return .success(text)
  }

  private static func joined(
    _ text: String, below parent: ResourcePath, kind: String
  ) -> Result<ResourcePath, FirestoreError> {
    if text.isEmpty { return .failure(.invalidArgument("A \(kind) path must not be empty.")) }
    // A slash at either end is dropped, as in the SDKs.
    let trimmed = text.drop { $0 == "/" }.reversed().drop { $0 == "/" }.reversed()
    do {
      let path = try ResourcePath(validating: String(trimmed))
      return .success(parent.isRoot ? path : ResourcePath(parent.text + "/" + path.text))
    } catch {
      return .failure(FirestoreError(error))
    }
  }
}

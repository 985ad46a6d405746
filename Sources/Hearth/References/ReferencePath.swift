// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Paths as users write them, checked.
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

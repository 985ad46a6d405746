// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A path to a field, which may be inside maps. A dot within a name is part of the name. In contrast, a dot in a string
/// separates names.
public struct FieldPath: Hashable, Sendable {
  let names: [String]

  /// Creates a path.
  /// - Parameter names: the names, outermost first. There must be at least one name, and no name may be empty. If the
  ///   path is invalid, the first call that uses it reports the error.
  public init(_ names: [String]) { self.names = names }

  /// Represents the document's own id in filters, orderings and cursors.
  public static func documentID() -> FieldPath { FieldPath(["__name__"]) }

  /// Whether both paths have the same names, byte for byte.
  public static func == (left: FieldPath, right: FieldPath) -> Bool {
    left.names.count == right.names.count && zip(left.names, right.names).allSatisfy { $0.equalsUTF8($1) }
  }

  /// Hashes the bytes of the names.
  public func hash(into hasher: inout Hasher) {
    for name in names { hasher.combine(Array(name.utf8)) }
  }
}

/// A field name: a `FieldPath`, or a string with dots between the names of nested maps.
public protocol FieldName: Sendable {
  /// The path, or an error if the name is invalid.
  var fieldPath: Result<FieldPath, FirestoreError> { get }
}

extension FieldPath: FieldName {
  /// The path itself, or an error if it has no names or an empty name.
  public var fieldPath: Result<FieldPath, FirestoreError> {
    if names.isEmpty { return .failure(.invalidArgument("A FieldPath needs at least one field name.")) }
    if names.contains(where: \.isEmpty) {
      return .failure(.invalidArgument("The field names of a FieldPath must not be empty: \(names)."))
    }
    return .success(self)
  }
}

extension String: FieldName {
  /// The path with the string's parts between dots as names. As in the SDK, the characters `~*/[]` are rejected. For
  /// names that contain these characters, use a `FieldPath`.
  public var fieldPath: Result<FieldPath, FirestoreError> {
    if let character = first(where: { "~*/[]".contains($0) }) {
      return .failure(
        .invalidArgument("Field \"\(self)\" contains '\(character)'. Use FieldPath([…]) for names with ~*/[]."))
    }
    let names = split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if names.contains(where: \.isEmpty) {
      return .failure(
        .invalidArgument("Field \"\(self)\" must not be empty, begin or end with a dot, or contain two dots in a row."))
    }
    return .success(FieldPath(names))
  }
}

extension FieldName {
  /// The path, converted to the internal type.
  func modelPath() throws(FirestoreError) -> FirestoreModel.FieldPath {
    FirestoreModel.FieldPath(segments: try fieldPath.get().names)
  }
}

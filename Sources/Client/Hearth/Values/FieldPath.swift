// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Names a field, possibly inside maps, without splitting names at dots as in plain strings.
public struct FieldPath: Hashable, Sendable {
  let names: [String]

  /// Names a field.
  /// - Parameter names: from the outside in. There must be one at least, and none may be empty; the call that uses a
  ///   path which breaks this reports it.
  public init(_ names: [String]) { self.names = names }

  /// The document's own id, for filters, orderings and cursors.
  public static func documentID() -> FieldPath { FieldPath(["__name__"]) }

  /// Whether both have the same names, byte for byte.
  public static func == (left: FieldPath, right: FieldPath) -> Bool {
    left.names.count == right.names.count && zip(left.names, right.names).allSatisfy { $0.equalsUTF8($1) }
  }

  /// Hashes the bytes of the names.
  public func hash(into hasher: inout Hasher) {
    for name in names { hasher.combine(Array(name.utf8)) }
  }
}

/// A name of a field: a `FieldPath`, or a string in which dots separate the names of nested maps.
public protocol FieldName: Sendable {
  /// The path, or the error in the name.
  var fieldPath: Result<FieldPath, FirestoreError> { get }
}

extension FieldPath: FieldName {
  /// The path itself, or the error if it has no names or an empty one.
  public var fieldPath: Result<FieldPath, FirestoreError> {
    if names.isEmpty { return .failure(.invalidArgument("A FieldPath needs at least one field name.")) }
    if names.contains(where: \.isEmpty) {
      return .failure(.invalidArgument("The field names of a FieldPath must not be empty: \(names)."))
    }
    return .success(self)
  }
}

extension String: FieldName {
  /// The path with the string's parts between dots. `~*/[]` are refused as in the SDK: a name with them needs a
  /// `FieldPath`.
  public var fieldPath: Result<FieldPath, FirestoreError> {
    if let character = first(where: { "~*/[]".contains($0) }) {
      return .failure(
        .invalidArgument("Field \"\(self)\" contains '\(character)'; use FieldPath([…]) for names with ~*/[]."))
    }
    let names = split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if names.contains(where: \.isEmpty) {
      return .failure(
        .invalidArgument("Field \"\(self)\" must not be empty, begin or end with a dot, or contain two in a row."))
    }
    return .success(FieldPath(names))
  }
}

extension FieldName {
  /// The path as the core names it.
  func modelPath() throws(FirestoreError) -> FirestoreModel.FieldPath {
    FirestoreModel.FieldPath(segments: try fieldPath.get().names)
  }
}

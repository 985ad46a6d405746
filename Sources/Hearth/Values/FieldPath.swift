// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Names a field, possibly inside maps, without the reading of dots that plain strings get.
public struct FieldPath: Hashable, Sendable {
  let names: [String]

  /// - Parameter names: from the outside in. None may be empty; a path that is nothing or has an empty name is
  ///   reported by the call that uses it.
  public init(_ names: [String]) { self.names = names }

  /// The document's own id, for filters, orderings and cursors.
  public static func documentID() -> FieldPath { FieldPath(["__name__"]) }

  /// The same names, byte for byte.
  public static func == (left: FieldPath, right: FieldPath) -> Bool {
    left.names.count == right.names.count && zip(left.names, right.names).allSatisfy { $0.equalsUTF8($1) }
  }

  /// By the bytes of the names.
  public func hash(into hasher: inout Hasher) {
    for name in names { hasher.combine(Array(name.utf8)) }
  }
}

/// What can name a field: a `FieldPath`, or a string in which dots separate the names of nested maps.
public protocol FieldName: Sendable {
  /// The path, or what is wrong with the name.
  var fieldPath: Result<FieldPath, FirestoreError> { get }
}

extension FieldPath: FieldName {
  /// The path itself, if it names a field.
  public var fieldPath: Result<FieldPath, FirestoreError> {
    if names.isEmpty { return .failure(.invalidArgument("A FieldPath needs at least one field name.")) }
    if names.contains(where: \.isEmpty) {
      return .failure(.invalidArgument("The field names of a FieldPath must not be empty: \(names)."))
    }
    return .success(self)
  }
}

extension String: FieldName {
  /// Split at dots. `~*/[]` are refused as in the SDK: a name with them needs a `FieldPath`.
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

// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// The JSON index definitions of a project (`firestore.indexes.json`), checked.
enum IndexDefinitions {
  /// - Throws: `invalidArgument` with line and column for text that is not JSON, or with the path of the entry that is
  ///   not as the format wants it.
  static func check(_ json: String) throws(FirestoreError) {
    let root: Fields
    do {
      root = try DocumentJSON.parse(json, database: DatabaseID(project: "none")).fields
    } catch {
      throw .invalidArgument("The index configuration is not JSON: \(error)")
    }
    for (number, index) in try list(root["indexes"], "indexes").enumerated() {
      try checkIndex(index, "indexes[\(number)]")
    }
    for (number, override) in try list(root["fieldOverrides"], "fieldOverrides").enumerated() {
      try checkOverride(override, "fieldOverrides[\(number)]")
    }
  }

  private static func checkIndex(_ value: Value, _ place: String) throws(FirestoreError) {
    let index = try map(value, place)
    try requireText(index["collectionGroup"] ?? index["collectionId"], place + ".collectionGroup")
    try requireOneOf(["COLLECTION", "COLLECTION_GROUP"], index["queryScope"], place + ".queryScope")
    let fields = try list(index["fields"], place + ".fields")
    if fields.isEmpty { throw .invalidArgument("The index configuration has no fields at \(place).fields.") }
    for (number, value) in fields.enumerated() {
      let place = "\(place).fields[\(number)]"
      let field = try map(value, place)
      try requireText(field["fieldPath"], place + ".fieldPath")
      try checkDirection(of: field, place)
    }
  }

  private static func checkOverride(_ value: Value, _ place: String) throws(FirestoreError) {
    let override = try map(value, place)
    try requireText(override["collectionGroup"], place + ".collectionGroup")
    try requireText(override["fieldPath"], place + ".fieldPath")
    for (number, value) in try list(override["indexes"], place + ".indexes").enumerated() {
      let place = "\(place).indexes[\(number)]"
      let index = try map(value, place)
      try requireOneOf(["COLLECTION", "COLLECTION_GROUP"], index["queryScope"], place + ".queryScope")
      try checkDirection(of: index, place)
    }
  }

  /// An ordering or membership in an array, not both.
  private static func checkDirection(of field: Fields, _ place: String) throws(FirestoreError) {
    if field["order"] != nil, field["arrayConfig"] != nil {
      throw .invalidArgument("The index configuration has both order and arrayConfig at \(place).")
    }
    try requireOneOf(["ASCENDING", "DESCENDING"], field["order"], place + ".order")
    try requireOneOf(["CONTAINS"], field["arrayConfig"], place + ".arrayConfig")
  }

  // MARK: Shapes

  private static func list(_ value: Value?, _ place: String) throws(FirestoreError) -> [Value] {
    switch value {
    case nil: return []
    case .array(let values)?: return values
    default: throw .invalidArgument("The index configuration needs a list at \(place).")
    }
  }

  private static func map(_ value: Value, _ place: String) throws(FirestoreError) -> Fields {
    guard case .map(let fields) = value else {
      throw .invalidArgument("The index configuration needs an object at \(place).")
    }
    return fields
  }

  private static func requireText(_ value: Value?, _ place: String) throws(FirestoreError) {
    guard case .string(let text)? = value, !text.isEmpty else {
      throw .invalidArgument("The index configuration needs a name at \(place).")
    }
  }

  /// Absent means the format's default.
  private static func requireOneOf(
    _ words: [String], _ value: Value?, _ place: String
  ) throws(FirestoreError) {
    guard let value else { return }
    guard case .string(let word) = value, words.contains(word) else {
      throw .invalidArgument("The index configuration needs \(words.joined(separator: " or ")) at \(place).")
    }
  }
}

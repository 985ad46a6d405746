// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreJSON
import FirestoreLocal
import FirestoreModel

/// Reads the JSON index definitions of a project (`firestore.indexes.json`).
///
/// Skips an index with a `vectorConfig`: it only serves vector searches at the server. An override's indexes become
/// indexes of that one field. Other index entries of the server's tools (`density`, `ttl`, …) have no meaning for a
/// cache. Unknown entries are rejected, because a misspelled list would drop its indexes.
package enum IndexConfigurationReader {
  /// Reads the definitions.
  /// - Throws: `invalidArgument` with line and column, and the path of the entry that violates the format.
  package static func read(_ json: String) throws(FirestoreError) -> [FieldIndex] {
    do throws(JSONError) {
      return try definitions(in: try JSONSyntax(parsing: json))
    } catch {
      throw .invalidArgument("The index configuration is invalid at \(error)")
    }
  }

  private static func definitions(in root: JSONSyntax) throws(JSONError) -> [FieldIndex] {
    guard case .object = root.kind else {
      throw root.error("It must be an object with \"indexes\" and \"fieldOverrides\", not \(root.kindName).")
    }
    try root.allowOnly(["indexes", "fieldOverrides"], nil)
    var definitions: [FieldIndex] = []
    for (number, index) in try list(root["indexes"], "indexes").enumerated() {
      if let definition = try definition(of: index, "indexes[\(number)]") { definitions.append(definition) }
    }
    for (number, override) in try list(root["fieldOverrides"], "fieldOverrides").enumerated() {
      definitions += try self.definitions(ofOverride: override, "fieldOverrides[\(number)]")
    }
    if root["indexes"] == nil { throw root.error("\"indexes\" is missing. An empty list drops all indexes.") }
    return definitions
  }

  private static func definition(of index: JSONSyntax, _ place: String) throws(JSONError) -> FieldIndex? {
    try index.allowOnly(Members.index, place)
    let group = try text(index["collectionGroup"] ?? index["collectionId"], of: index, place + ".collectionGroup")
    try checkScope(of: index, place)
    let entries = try list(index["fields"], place + ".fields")
    var fields: [FieldIndex.Field] = []
    for (number, entry) in entries.enumerated() {
      let place = "\(place).fields[\(number)]"
      try entry.allowOnly(Members.field, place)
      let name = try text(entry["fieldPath"], of: entry, place + ".fieldPath")
      if entry["vectorConfig"] != nil { return nil }
      fields.append(FieldIndex.Field(try path(name, in: entry, place + ".fieldPath"), try kind(of: entry, place)))
    }
    return try index.reporting(place) { () throws(ModelError) in
      try FieldIndex(collectionGroup: group, fields: fields)
    }
  }

  private static func definitions(
    ofOverride override: JSONSyntax, _ place: String
  ) throws(JSONError) -> [FieldIndex] {
    try override.allowOnly(Members.override, place)
    let group = try text(
      override["collectionGroup"] ?? override["collectionId"], of: override, place + ".collectionGroup")
    let name = try text(override["fieldPath"], of: override, place + ".fieldPath")
    let path = try path(name, in: override, place + ".fieldPath")
    var definitions: [FieldIndex] = []
    for (number, index) in try list(override["indexes"], place + ".indexes").enumerated() {
      let place = "\(place).indexes[\(number)]"
      try index.allowOnly(Members.overrideIndex, place)
      try checkScope(of: index, place)
      if index["vectorConfig"] != nil { continue }
      let field = FieldIndex.Field(path, try kind(of: index, place))
      definitions.append(
        try index.reporting(place) { () throws(ModelError) in
          try FieldIndex(collectionGroup: group, fields: [field])
        })
    }
    return definitions
  }

  /// The members that Google's tools write into each object, in the present format and the previous one.
  private enum Members {
    static let index = [
      "collectionGroup", "collectionId", "queryScope", "fields", "density", "apiScope", "multikey", "unique", "name",
      "state",
    ]
    static let field = ["fieldPath", "order", "arrayConfig", "vectorConfig", "mode"]
    static let override = ["collectionGroup", "collectionId", "fieldPath", "ttl", "indexes"]
    static let overrideIndex = [
      "order", "arrayConfig", "vectorConfig", "queryScope", "density", "apiScope", "multikey", "unique",
    ]
  }

  // MARK: Parts

  private static func checkScope(of index: JSONSyntax, _ place: String) throws(JSONError) {
    guard let scope = index["queryScope"] else { return }
    _ = try word(scope, IndexDefinition.QueryScope.allCases.map(\.rawValue), place + ".queryScope")
  }

  /// An ordering or an array configuration, but not both.
  private static func kind(of field: JSONSyntax, _ place: String) throws(JSONError) -> FieldIndex.Kind {
    switch (field["order"], field["arrayConfig"]) {
    case (let order?, nil):
      let words = IndexField.Order.allCases.map(\.rawValue)
      let word = try word(order, words, place + ".order")
      return word == IndexField.Order.ascending.rawValue ? .ascending : .descending
    case (nil, let array?):
      _ = try word(array, IndexField.ArrayConfig.allCases.map(\.rawValue), place + ".arrayConfig")
      return .contains
    case (_?, _?): throw field.error("\(place) has both order and arrayConfig. Keep one of them.")
    case (nil, nil):
      throw field.error("\(place) needs \"order\": \"ASCENDING\" or \"DESCENDING\", or \"arrayConfig\": \"CONTAINS\".")
    }
  }

  private static func path(
    _ text: String, in entry: JSONSyntax, _ place: String
  ) throws(JSONError) -> FirestoreModel.FieldPath {
    try (entry["fieldPath"] ?? entry).reporting(place) { () throws(ModelError) in
      try FirestoreModel.FieldPath(validating: text)
    }
  }

  private static func list(_ value: JSONSyntax?, _ place: String) throws(JSONError) -> [JSONSyntax] {
    guard let value else { return [] }
    guard case .array(let elements) = value.kind else {
      throw value.error("\(place) must be a list, not \(value.kindName).")
    }
    return elements
  }

  private static func text(
    _ value: JSONSyntax?, of parent: JSONSyntax, _ place: String
  ) throws(JSONError) -> String {
    guard case .object = parent.kind else {
      throw parent.error("Expected an object with \(place), not \(parent.kindName).")
    }
    guard let value else { throw parent.error("\(place) is missing.") }
    guard case .string(let text) = value.kind, !text.isEmpty else {
      throw value.error("\(place) must be a name, not \(value.kindName).")
    }
    return text
  }

  private static func word(_ value: JSONSyntax, _ words: [String], _ place: String) throws(JSONError) -> String {
    guard case .string(let word) = value.kind, words.contains(where: { word.utf8.elementsEqual($0.utf8) }) else {
      let found = if case .string(let word) = value.kind { "\"\(word)\"" } else { value.kindName }
      throw value.error("\(place) must be \(words.joined(separator: " or ")), not \(found).")
    }
    return word
  }
}

extension JSONSyntax {
  /// Accepts only members of an object with these names.
  /// - Throws: an error at the value of a member with another name.
  fileprivate func allowOnly(_ names: [String], _ place: String?) throws(JSONError) {
    guard case .object(let members) = kind else { return }
    for member in members where !names.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) {
      let name = place.map { "\($0).\(member.name)" } ?? member.name
      throw member.value.error("\(name) is unknown. Expected \(names.joined(separator: ", ")).")
    }
  }

  /// Runs `body` and reports its errors at this value.
  fileprivate func reporting<Result>(
    _ place: String, _ body: () throws(ModelError) -> Result
  ) throws(JSONError) -> Result {
    do throws(ModelError) {
      return try body()
    } catch {
      throw self.error("\(place): \(error.message)")
    }
  }
}

extension IndexConfigurationReader {
  /// The indexes of a project according to its configuration, with their scopes; skips vector indexes.
  /// - Throws: the errors of `read`.
  package static func composites(_ json: String) throws(FirestoreError) -> [CompositeIndex] {
    // `read` reports all errors.
    _ = try read(json)
    guard let root = try? JSONSyntax(parsing: json) else { return [] }
    let indexes = root["indexes"]?.elements ?? []
    let overrides = (root["fieldOverrides"]?.elements ?? []).flatMap { override in
      (override["indexes"]?.elements ?? []).map { (override, $0) }
    }
    return indexes.compactMap { CompositeIndex(of: $0, fields: $0["fields"]?.elements ?? [], $0) }
      + overrides.compactMap { override, index in
        CompositeIndex(of: override, fields: [index], index, path: override["fieldPath"]?.text)
      }
  }
}

extension CompositeIndex {
  /// Reads one index; `nil` for a vector index, and for an invalid entry.
  /// - Parameters:
  ///   - owner: the object with the collection id.
  ///   - scope: the object with the scope.
  ///   - path: the path of the only field, if the field has no name.
  fileprivate init?(of owner: JSONSyntax, fields: [JSONSyntax], _ scope: JSONSyntax, path: String? = nil) {
    guard let group = (owner["collectionGroup"] ?? owner["collectionId"])?.text else { return nil }
    var own: [Field] = []
    for field in fields {
      // An index of a field with an invalid path serves no query.
      guard field["vectorConfig"] == nil, let name = field["fieldPath"]?.text ?? path,
        let path = try? FirestoreModel.FieldPath(validating: name)
      else { return nil }
      // Every index ends with the name.
      if path.isDocumentID { continue }
      let kind: FieldIndex.Kind =
        field["arrayConfig"] != nil ? .contains : field["order"]?.text == "DESCENDING" ? .descending : .ascending
      own.append(Field(path: path, kind: kind))
    }
    self.init(collectionID: group, isGroup: scope["queryScope"]?.text == "COLLECTION_GROUP", fields: own)
  }
}

extension JSONSyntax {
  fileprivate var elements: [JSONSyntax] { if case .array(let elements) = kind { elements } else { [] } }
  fileprivate var text: String? { if case .string(let text) = kind { text } else { nil } }
}

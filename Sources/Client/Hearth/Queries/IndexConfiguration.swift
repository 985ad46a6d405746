// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreJSON
import FirestoreLocal
import FirestoreModel

/// The index definitions of a project, in the file format of Google's tools (`firestore.indexes.json`).
///
/// The file may contain comments, as `firebase init` writes them, and the members of the format before 2019
/// (`collectionId`, `mode`). The output of `gcloud firestore indexes composite list --format=json` is also accepted. An
/// unknown member does not make the file invalid. Hearth skips only the member, or the index that depends on it, with a
/// warning.
package struct IndexConfiguration: Sendable {
  /// The indexes for a cache. A field override becomes separate indexes on that field.
  package private(set) var fieldIndexes: [FieldIndex] = []
  /// The indexes for a server, with their scopes. Includes indexes that only servers can use.
  package private(set) var composites: [CompositeIndex] = []
  /// The warnings about ignored parts of the file, each with line and column.
  package private(set) var warnings: [String] = []

  /// Reads the definitions.
  /// - Throws: `invalidArgument` with the line, the column and the path of the entry that violates the format.
  package init(parsing json: String) throws(FirestoreError) {
    do throws(JSONError) {
      let (root, comma) = try JSONSyntax.commented(json)
      if let comma { warnings.append("\(comma) firebase-tools rejects it. Remove the comma.") }
      try read(root)
    } catch {
      throw .invalidArgument("The index configuration is invalid at \(error)")
    }
  }

  private mutating func read(_ root: JSONSyntax) throws(JSONError) {
    if case .array(let indexes) = root.kind, !indexes.isEmpty { return try read(indexes: indexes, "indexes") }
    guard case .object = root.kind else {
      throw root.error(
        "The configuration must be an object with \"indexes\" and \"fieldOverrides\", not \(root.kindName).")
    }
    let unknown = root.members(except: Members.root)
    if root["indexes"] == nil, root["fieldOverrides"] == nil {
      if let first = unknown.first {
        throw first.value.error("\(first.name) is unknown. Expected \(Members.root.joined(separator: ", ")).")
      }
      throw root.error("\"indexes\" is missing. An empty list drops all indexes.")
    }
    warn(of: unknown, nil)
    try read(indexes: try Self.list(root.member("indexes"), "indexes"), "indexes")
    for (number, override) in try Self.list(root.member("fieldOverrides"), "fieldOverrides").enumerated() {
      try read(override: override, "fieldOverrides[\(number)]")
    }
  }

  private mutating func read(indexes: [JSONSyntax], _ place: String) throws(JSONError) {
    for (number, index) in indexes.enumerated() { try read(index: index, "\(place)[\(number)]") }
  }

  // MARK: Entries

  private mutating func read(index: JSONSyntax, _ place: String) throws(JSONError) {
    let group = try Self.group(of: index, place)
    let unknown = index.members(except: Members.index)
    guard let isGroup = try isGroup(index, place) else { return }
    if index.member("fields") == nil, let first = unknown.first { return skip(place, first, "it has no fields") }
    var fields: [FieldIndex.Field] = []
    for (number, entry) in try Self.list(index.member("fields"), place + ".fields").enumerated() {
      let place = "\(place).fields[\(number)]"
      let name = try Self.text(entry["fieldPath"], of: entry, place + ".fieldPath")
      let path = try Self.path(name, in: entry, place + ".fieldPath")
      guard let kind = try kind(of: entry, place, Members.field) else { return }
      fields.append(FieldIndex.Field(path, kind))
    }
    warn(of: unknown, place)
    try add(group, isGroup: isGroup, fields, index, place)
  }

  private mutating func read(override: JSONSyntax, _ place: String) throws(JSONError) {
    let group = try Self.group(of: override, place)
    let name = try Self.text(override["fieldPath"], of: override, place + ".fieldPath")
    let path = try Self.path(name, in: override, place + ".fieldPath")
    warn(of: override.members(except: Members.override), place)
    for (number, index) in try Self.list(override.member("indexes"), place + ".indexes").enumerated() {
      let place = "\(place).indexes[\(number)]"
      guard let isGroup = try isGroup(index, place), let kind = try kind(of: index, place, Members.overrideIndex)
      else { continue }
      try add(group, isGroup: isGroup, [FieldIndex.Field(path, kind)], index, place)
    }
  }

  private mutating func add(
    _ group: String, isGroup: Bool, _ fields: [FieldIndex.Field], _ entry: JSONSyntax, _ place: String
  ) throws(JSONError) {
    var paths: Set<FirestoreModel.FieldPath> = []
    let isOfName = fields.count == 1 && fields[0].path.isDocumentID
    if isOfName {
      // A server needs this index to read a collection in reverse order; a cache does not.
    } else if let twice = fields.first(where: { !paths.insert($0.path).inserted })?.path {
      // Cloud Firestore allows this, for an array field that is both searched and ordered.
      let name = twice.canonicalText
      warn(entry, "\(place) has the field \(name) twice. Only servers use such an index; the cache skips it.")
    } else {
      fieldIndexes.append(
        try entry.reporting(place) { () throws(ModelError) in
          try FieldIndex(collectionGroup: group, fields: fields)
        })
    }
    // The document name is implied as the last field of every index, so it is omitted here.
    let own = fields.filter { isOfName || !$0.path.isDocumentID }.map {
      CompositeIndex.Field(path: $0.path, kind: $0.kind)
    }
    composites.append(CompositeIndex(collectionID: group, isGroup: isGroup, fields: own))
  }

  // MARK: Parts

  /// The members that Google's tools write into each object, in the current format and the previous one.
  private enum Members {
    static let root = ["indexes", "fieldOverrides"]
    static let index = [
      "collectionGroup", "collectionId", "queryScope", "fields", "density", "apiScope", "multikey", "unique", "name",
      "state", "shardCount",
    ]
    static let field = ["fieldPath", "order", "arrayConfig", "vectorConfig", "mode"]
    static let override = ["collectionGroup", "collectionId", "fieldPath", "ttl", "ttlConfig", "indexes"]
    static let overrideIndex = [
      "order", "arrayConfig", "vectorConfig", "mode", "queryScope", "density", "apiScope", "multikey", "unique",
    ]
  }

  /// The collection id, which is either a member or a part of the full name that `gcloud` prints.
  private static func group(of entry: JSONSyntax, _ place: String) throws(JSONError) -> String {
    let named = entry.member("collectionGroup") ?? entry.member("collectionId")
    if named == nil, case .string(let name)? = entry["name"]?.kind {
      let parts = name.split(separator: "/")
      if let mark = parts.firstIndex(of: "collectionGroups"), mark + 1 < parts.count { return String(parts[mark + 1]) }
    }
    return try text(named, of: entry, place + ".collectionGroup")
  }

  /// Whether an index covers all collections with its collection id.
  /// - Returns: `nil` if none of Hearth's queries can use the index; adds a warning in this case.
  private mutating func isGroup(_ index: JSONSyntax, _ place: String) throws(JSONError) -> Bool? {
    if let interface = index.member("apiScope"), interface.text != "ANY_API" {
      warn(interface, "\(place) is skipped: it is for another API (\(interface.lineText)).")
      return nil
    }
    guard let scope = index.member("queryScope") else { return false }
    if scope.text == "COLLECTION_RECURSIVE" {
      warn(scope, "\(place) is skipped: COLLECTION_RECURSIVE is for Datastore mode.")
      return nil
    }
    let words = IndexDefinition.QueryScope.allCases.map(\.rawValue)
    return try Self.word(scope, words, place + ".queryScope") == IndexDefinition.QueryScope.collectionGroup.rawValue
  }

  /// The kind of a field: an order or an array configuration, but not both.
  /// - Returns: `nil` for a vector, because only servers search vectors. Also `nil` for an unknown kind, after adding a
  ///   warning.
  private mutating func kind(
    of field: JSONSyntax, _ place: String, _ known: [String]
  ) throws(JSONError) -> FieldIndex.Kind? {
    if field.member("vectorConfig") != nil { return nil }
    let unknown = field.members(except: known)
    let kind: FieldIndex.Kind
    switch (field.member("order"), field.member("arrayConfig"), field.member("mode")) {
    case (let order?, nil, _):
      let words = IndexField.Order.allCases.map(\.rawValue)
      let word = try Self.word(order, words, place + ".order")
      kind = word == IndexField.Order.ascending.rawValue ? .ascending : .descending
    case (nil, let array?, _):
      _ = try Self.word(array, IndexField.ArrayConfig.allCases.map(\.rawValue), place + ".arrayConfig")
      kind = .contains
    case (nil, nil, let mode?):
      let word = try Self.word(mode, ["ASCENDING", "DESCENDING", "ARRAY_CONTAINS"], place + ".mode")
      kind = word == "ASCENDING" ? .ascending : word == "DESCENDING" ? .descending : .contains
    case (_?, _?, _): throw field.error("\(place) has both order and arrayConfig. Keep one of them.")
    case (nil, nil, nil):
      guard let first = unknown.first else {
        throw field.error(
          "\(place) needs \"order\": \"ASCENDING\" or \"DESCENDING\", or \"arrayConfig\": \"CONTAINS\".")
      }
      skip(place, first, "it has neither order nor arrayConfig")
      return nil
    }
    warn(of: unknown, place)
    return kind
  }

  // MARK: Warnings

  private mutating func warn(_ syntax: JSONSyntax, _ reason: String) {
    warnings.append("\(syntax.error(reason))")
  }

  private mutating func warn(of unknown: [JSONSyntax.Member], _ place: String?) {
    for member in unknown {
      warn(member.value, "\(place.map { "\($0)." } ?? "")\(member.name) is unknown and has no effect.")
    }
  }

  private mutating func skip(_ place: String, _ unknown: JSONSyntax.Member, _ reason: String) {
    warn(unknown.value, "\(place).\(unknown.name) is unknown. The index is skipped, because \(reason).")
  }

  // MARK: Values

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
    guard let word = value.text, words.contains(where: { word.utf8.elementsEqual($0.utf8) }) else {
      let found = value.text.map { "\"\($0)\"" } ?? value.kindName
      throw value.error("\(place) must be \(words.joined(separator: " or ")), not \(found).")
    }
    return word
  }
}

extension JSONSyntax {
  fileprivate var text: String? { if case .string(let text) = kind { text } else { nil } }

  /// The member of an object with this name; `nil` if it is missing or null.
  fileprivate func member(_ name: String) -> JSONSyntax? {
    guard let member = self[name] else { return nil }
    if case .null = member.kind { return nil }
    return member
  }

  /// The members of an object, except those with the given names.
  fileprivate func members(except names: [String]) -> [Member] {
    guard case .object(let members) = kind else { return [] }
    return members.filter { member in !names.contains { $0.utf8.elementsEqual(member.name.utf8) } }
  }

  /// Runs `body`. If it throws, reports the error at this value's position.
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

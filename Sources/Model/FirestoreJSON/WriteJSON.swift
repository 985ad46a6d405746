// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The human-readable JSON of writes: an array that contains one object for each document, or a single object.
///
///     {"set": "orders/a", "data": {…}}                             replaces the document
///     {"update": "orders/a", "data": {"shipTo.city": "Delft"}}     changes fields of a document that exists
///     {"merge": "orders/a", "data": {…}}                           the same, also without a document
///     {"delete": "orders/a"}      {"verify": "orders/a"}           the last only checks
///
/// In updates and merges, the names in `data` are field paths, and `"remove": ["note"]` lists fields to delete.
/// `"transform": {"total": {"$increment": 1}}` lists field paths with the transforms that the backend applies.
/// `"exists": false` and `"updateTime": "2026-03-02T11:58:03Z"` are conditions on the document.
package enum WriteJSON {
  /// The JSON text for mutations.
  /// - Parameter database: the database whose references are written as paths.
  package static func text(of mutations: [Mutation], relativeTo database: DatabaseID? = nil) -> String {
    let writer = ValueJSONWriter(database: database)
    let writes = mutations.map { JSONSyntax(.object(members(of: $0, writer))) }
    return JSONSyntax(.array(writes)).prettyText { $0.isTypeObject } + "\n"
  }

  /// Reads mutations from a JSON text.
  /// - Parameter database: the database to which references that are written as paths belong.
  /// - Throws: `JSONError` with the position and a description of the expected content. Also throws if the text
  ///   contains no writes.
  package static func parse(_ text: String, database: DatabaseID) throws(JSONError) -> [Mutation] {
    let syntax = try JSONSyntax(parsing: text)
    guard case .array(let elements) = syntax.kind else { return [try mutation(syntax, database)] }
    guard !elements.isEmpty else { throw syntax.error("Expected at least one write.") }
    var mutations: [Mutation] = []
    for element in elements { mutations.append(try mutation(element, database)) }
    return mutations
  }

  /// One mutation in the same JSON form, with exact values (`DocumentJSON.exact`).
  package static func exact(_ mutation: Mutation, relativeTo database: DatabaseID?) -> JSONSyntax {
    JSONSyntax(.object(members(of: mutation, ValueJSONWriter(database: database, isExact: true))))
  }

  /// Reads a mutation that `exact` wrote.
  package static func exactMutation(of syntax: JSONSyntax, database: DatabaseID) throws(JSONError) -> Mutation {
    try mutation(syntax, database, isExact: true)
  }

  private enum Kind: String, CaseIterable { case set, update, merge, delete, verify }
  private static let options = ["data", "remove", "transform", "exists", "updateTime"]

  // MARK: Writing

  private static func members(of mutation: Mutation, _ writer: ValueJSONWriter) -> [JSONSyntax.Member] {
    let path = JSONSyntax(.string(mutation.key.path.text))
    var members: [JSONSyntax.Member]
    var precondition = mutation.precondition
    switch mutation.operation {
    case .set(let fields): members = [.init("set", path), .init("data", JSONSyntax(.object(writer.members(fields))))]
    case .patch(let fields, let mask):
      let isUpdate = mutation.precondition == .exists(true)
      if isUpdate { precondition = .none }
      let paths = mask.paths.map { (path: $0, name: $0.canonicalText) }.sorted { $0.name < $1.name }
      let data = paths.compactMap { entry in
        fields[entry.path].map { JSONSyntax.Member(entry.name, writer.syntax($0)) }
      }
      let removed = paths.filter { fields[$0.path] == nil }.map { JSONSyntax(.string($0.name)) }
      members = [.init(isUpdate ? "update" : "merge", path), .init("data", JSONSyntax(.object(data)))]
      if !removed.isEmpty { members.append(.init("remove", JSONSyntax(.array(removed)))) }
    case .delete: members = [.init("delete", path)]
    case .verify: members = [.init("verify", path)]
    }
    if !mutation.transforms.isEmpty {
      let transforms = mutation.transforms.map { transform in
        JSONSyntax.Member(transform.path.canonicalText, writer.syntax(transform.operation))
      }
      members.append(.init("transform", JSONSyntax(.object(transforms))))
    }
    switch precondition {
    case .none: break
    case .exists(let exists): members.append(.init("exists", JSONSyntax(.boolean(exists))))
    case .updateTime(let time): members.append(.init("updateTime", JSONSyntax(.string(time.timestamp.rfc3339Text))))
    }
    return members
  }

  // MARK: Reading

  private static func mutation(
    _ syntax: JSONSyntax, _ database: DatabaseID, isExact: Bool = false
  ) throws(JSONError) -> Mutation {
    guard case .object(let members) = syntax.kind else {
      throw syntax.error("Expected an object with one write, found \(syntax.kindName).")
    }
    let known = Kind.allCases.map(\.rawValue)
    for member in members where !(known + options).contains(where: { $0.equalsUTF8(member.name) }) {
      throw member.value.error(
        "\"\(member.name)\" is not part of a write. Expected one of \((known + options).joined(separator: ", ")).")
    }
    let kinds = Kind.allCases.filter { syntax[$0.rawValue] != nil }
    guard kinds.count == 1, let kind = kinds.first, let target = syntax[kind.rawValue] else {
      throw syntax.error("A write needs exactly one of \(known.joined(separator: ", ")).")
    }
    let key = try key(target, kind)
    var transforms: [FieldTransform] = []
    let operation = try operation(kind, syntax, database, isExact, &transforms)
    if let computed = syntax["transform"] { transforms += try self.transforms(computed, database, isExact) }
    if !transforms.isEmpty, !isExact, kind == .delete || kind == .verify {
      throw syntax.error("A \(kind.rawValue) cannot have transforms.")
    }
    let precondition = try precondition(syntax) ?? (kind == .update ? .exists(true) : .none)
    return Mutation(key: key, operation: operation, precondition: precondition, transforms: transforms)
  }

  private static func key(_ syntax: JSONSyntax, _ kind: Kind) throws(JSONError) -> DocumentKey {
    guard case .string(let path) = syntax.kind else {
      throw syntax.error("\"\(kind.rawValue)\" expects a document's path, found \(syntax.kindName).")
    }
    do throws(ModelError) { return try DocumentKey(validating: path) } catch { throw syntax.error(error.message) }
  }

  private static func operation(
    _ kind: Kind, _ syntax: JSONSyntax, _ database: DatabaseID, _ isExact: Bool, _ transforms: inout [FieldTransform]
  ) throws(JSONError) -> Mutation.Operation {
    let data = syntax["data"]
    let removed = syntax["remove"]
    switch kind {
    case .delete, .verify:
      if let extra = data ?? removed { throw extra.error("A \(kind.rawValue) cannot have \"data\" or \"remove\".") }
      return kind == .delete ? .delete : .verify
    case .set:
      if let removed { throw removed.error("A set replaces the whole document. Leave out \"remove\".") }
      guard let data else { throw syntax.error("A set needs \"data\".") }
      let parsed = try DocumentJSON.fields(of: data, database: database, isExact: isExact)
      transforms = parsed.transforms
      return .set(parsed.fields)
    case .update, .merge:
      var fields = Fields()
      var mask: [FieldPath] = []
      for member in try members(of: data, "data") {
        let path = try path(member.name, member.value)
        let parsed = try DocumentJSON.fields(
          of: JSONSyntax(.object([member])), database: database, isExact: isExact)
        transforms += parsed.transforms.map { transform in
          FieldTransform(
            path: FieldPath(segments: path.segments + transform.path.segments.dropFirst()),
            operation: transform.operation)
        }
        guard let value = parsed.fields[member.name] else { continue }
        mask.append(path)
        fields[path] = value
      }
      for element in try elements(of: removed, "remove") {
        guard case .string(let name) = element.kind else {
          throw element.error("\"remove\" expects field paths, found \(element.kindName).")
        }
        mask.append(try path(name, element))
      }
      return .patch(fields, FieldMask(mask))
    }
  }

  private static func transforms(
    _ syntax: JSONSyntax, _ database: DatabaseID, _ isExact: Bool
  ) throws(JSONError) -> [FieldTransform] {
    var transforms: [FieldTransform] = []
    for member in try members(of: syntax, "transform") {
      let path = try path(member.name, member.value)
      let parsed = try DocumentJSON.fields(
        of: JSONSyntax(.object([member])), database: database, isExact: isExact)
      guard parsed.fields.isEmpty, let transform = parsed.transforms.first, parsed.transforms.count == 1 else {
        throw member.value.error("\"transform\" expects a transform such as {\"$serverTimestamp\": true}.")
      }
      transforms.append(FieldTransform(path: path, operation: transform.operation))
    }
    return transforms
  }

  private static func precondition(_ syntax: JSONSyntax) throws(JSONError) -> Precondition? {
    let exists = syntax["exists"]
    guard let time = syntax["updateTime"] else {
      guard let exists else { return nil }
      guard case .boolean(let exists) = exists.kind else { throw exists.error("\"exists\" expects true or false.") }
      return .exists(exists)
    }
    if let exists { throw exists.error("Use either \"exists\" or \"updateTime\", not both.") }
    guard case .string(let text) = time.kind, let timestamp = Timestamp(rfc3339: text) else {
      throw time.error("\"updateTime\" expects a time such as \"2026-03-02T11:58:03.120Z\".")
    }
    return .updateTime(SnapshotVersion(timestamp))
  }

  private static func path(_ name: String, _ place: JSONSyntax) throws(JSONError) -> FieldPath {
    do throws(ModelError) { return try FieldPath(validating: name) } catch { throw place.error(error.message) }
  }

  private static func members(of syntax: JSONSyntax?, _ name: String) throws(JSONError) -> [JSONSyntax.Member] {
    guard let syntax else { return [] }
    guard case .object(let members) = syntax.kind else {
      throw syntax.error("\"\(name)\" expects an object, found \(syntax.kindName).")
    }
    return members
  }

  private static func elements(of syntax: JSONSyntax?, _ name: String) throws(JSONError) -> [JSONSyntax] {
    guard let syntax else { return [] }
    guard case .array(let elements) = syntax.kind else {
      throw syntax.error("\"\(name)\" expects an array, found \(syntax.kindName).")
    }
    return elements
  }
}

extension JSONSyntax {
  /// Whether the value is a `$` object of a type whose content is always short.
  var isTypeObject: Bool {
    guard case .object(let members) = kind, members.count == 1 else { return false }
    return TypeName(rawValue: members[0].name).map { $0 != .map } ?? false
  }
}

extension ValueJSONWriter {
  fileprivate func syntax(_ transform: FieldTransform.Operation) -> JSONSyntax {
    let (name, content): (TypeName, JSONSyntax) =
      switch transform {
      case .serverTimestamp: (.serverTimestamp, JSONSyntax(.boolean(true)))
      case .increment(let value): (.increment, syntax(value))
      case .minimum(let value): (.minimum, syntax(value))
      case .maximum(let value): (.maximum, syntax(value))
      case .arrayUnion(let values): (.arrayUnion, JSONSyntax(.array(values.map(syntax))))
      case .arrayRemove(let values): (.arrayRemove, JSONSyntax(.array(values.map(syntax))))
      }
    return JSONSyntax(.object([JSONSyntax.Member(name.rawValue, content)]))
  }
}

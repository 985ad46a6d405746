// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel
import FirestoreQuery
import FirestoreText

/// A request with the expected verdict of the rules, as one object of a cases file:
///
///     {"method": "get", "path": "rooms/a", "user": "ada", "stored": {"rooms/a": {"owner": "ada"}}, "expect": "allow"}
///
/// Documents and values have the format of `DocumentJSON`.
package struct RulesCase: Sendable {
  package static let database = DatabaseID(project: "demo-rules")
  /// The default value of `request.time`.
  package static let time = Timestamp(seconds: 1_767_225_600)

  package var name: String?
  /// The stored documents, by key.
  package var stored: [DocumentKey: Document] = [:]
  /// The documents after the request's other writes, by key; `nil` for a deleted document.
  package var after: [DocumentKey: Document?] = [:]
  package var request: RulesRequest
  package var expectsAllow: Bool

  /// The documents that the rules can read in this case. `getAfter` also sees the request's own document.
  package var documents: FixedDocuments {
    var after = after
    if let key = DocumentKey(request.path), request.method != .list, request.method != .get {
      after[key] = .some(request.newResource)
    }
    return FixedDocuments(stored: stored, after: after)
  }
}

/// Reads cases. Members of an object without `expect` are defaults for all later cases.
package struct RulesCaseReader {
  private var defaults: [String: JSONSyntax] = [:]
  private static let names: Set<String> = [
    "after", "data", "expect", "mask", "method", "name", "path", "query", "stored", "time", "user",
  ]

  package init() {}

  /// - Returns: `nil` for an object with defaults.
  package mutating func read(_ syntax: JSONSyntax) throws(JSONError) -> RulesCase? {
    var members = defaults
    for member in try syntax.objectMembers("a case") {
      guard Self.names.contains(member.name) else {
        throw member.value.error(
          "\"\(member.name)\" is unknown. A case has \(Self.names.sorted().joined(separator: ", ")).")
      }
      members[member.name] = member.value
    }
    guard let expected = members["expect"] else {
      defaults = members
      return nil
    }
    guard case .string(let verdict) = expected.kind, ["allow", "deny"].contains(verdict) else {
      throw expected.error("\"expect\" must be \"allow\" or \"deny\".")
    }
    var request = try request(members, at: syntax)
    let stored = try documents(members["stored"])
    if let key = DocumentKey(request.path), request.method != .list { request.resource = stored[key] ?? nil }
    return RulesCase(
      name: try members["name"]?.text("\"name\""), stored: stored.compactMapValues { $0 },
      after: try documents(members["after"]), request: request, expectsAllow: verdict == "allow")
  }

  private func request(_ members: [String: JSONSyntax], at syntax: JSONSyntax) throws(JSONError) -> RulesRequest {
    guard let methodSyntax = members["method"], let pathSyntax = members["path"] else {
      throw syntax.error("A case needs \"method\" and \"path\".")
    }
    guard let method = RulesRequest.Method(rawValue: try methodSyntax.text("\"method\"")) else {
      let known = RulesRequest.Method.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw methodSyntax.error("\"method\" must be one of \(known).")
    }
    let path = try Self.path(try pathSyntax.text("\"path\""), at: pathSyntax)
    if method != .list, !path.isDocument { throw pathSyntax.error("\"\(path.text)\" is not the path of a document.") }
    var request = RulesRequest(
      method: method, database: RulesCase.database, path: path, user: try user(members["user"]),
      time: try time(members["time"]))
    if method == .create || method == .update {
      guard let data = members["data"], let key = DocumentKey(path) else {
        throw syntax.error("A case of \"\(method.rawValue)\" needs \"data\": the new document.")
      }
      request.newResource = try Self.document(key, data)
      if let mask = members["mask"] { request.mutations = [try Self.patch(key, mask)] }
    }
    if method == .list {
      request.query = try RulesQuery(case: members["query"], path: path)
      guard request.query?.target.collectionGroup != nil || path.isCollection else {
        throw pathSyntax.error(
          "\"\(path.text)\" is not the path of a collection. For a collection group use \"group\" in \"query\".")
      }
    }
    return request
  }

  static func path(_ text: String, at syntax: JSONSyntax) throws(JSONError) -> ResourcePath {
    if text.isEmpty { return .root }
    do throws(ModelError) { return try ResourcePath(validating: text) } catch { throw syntax.error(error.message) }
  }

  private static func document(_ key: DocumentKey, _ syntax: JSONSyntax) throws(JSONError) -> Document {
    let (fields, transforms) = try DocumentJSON.fields(of: syntax, database: RulesCase.database)
    guard transforms.isEmpty else { throw syntax.error("Transforms are not supported. Use the resulting values.") }
    return Document(
      key: key, version: SnapshotVersion(RulesCase.time), state: .found(DocumentData(fields)))
  }

  /// Creates a write with an update mask from an array of field paths.
  private static func patch(_ key: DocumentKey, _ syntax: JSONSyntax) throws(JSONError) -> Mutation {
    var paths: [FieldPath] = []
    for element in try syntax.elements("\"mask\"") {
      let text = try element.text("a field path")
      do throws(ModelError) { paths.append(try FieldPath(wireText: text)) } catch {
        throw element.error(error.message)
      }
    }
    return Mutation(key: key, operation: .patch(Fields(), FieldMask(paths)))
  }

  private func documents(_ syntax: JSONSyntax?) throws(JSONError) -> [DocumentKey: Document?] {
    var documents: [DocumentKey: Document?] = [:]
    for member in try syntax?.objectMembers("documents by path") ?? [] {
      guard let key = DocumentKey(try Self.path(member.name, at: member.value)) else {
        throw member.value.error("\"\(member.name)\" is not the path of a document.")
      }
      if case .null = member.value.kind {
        documents[key] = .some(nil)
      } else {
        documents[key] = try Self.document(key, member.value)
      }
    }
    return documents
  }

  /// Reads a uid, or an object with `uid` and `claims`.
  private func user(_ syntax: JSONSyntax?) throws(JSONError) -> RulesUser? {
    guard let syntax else { return nil }
    switch syntax.kind {
    case .null: return nil
    case .string(let uid): return RulesUser(uid: uid, claims: ["sub": .string(uid), "user_id": .string(uid)])
    default:
      var claims = Fields()
      var uid: String?
      for member in try syntax.objectMembers("a user") {
        switch member.name {
        case "uid": uid = try member.value.text("\"uid\"")
        case "claims": claims = try DocumentJSON.fields(of: member.value, database: RulesCase.database).fields
        default: throw member.value.error("A user can only have \"uid\" and \"claims\".")
        }
      }
      guard let uid else { throw syntax.error("A user needs \"uid\".") }
      for name in ["sub", "user_id"] where claims[name] == nil { claims[name] = .string(uid) }
      return RulesUser(uid: uid, claims: claims)
    }
  }

  private func time(_ syntax: JSONSyntax?) throws(JSONError) -> Timestamp {
    guard let syntax else { return RulesCase.time }
    guard let time = Timestamp(rfc3339: try syntax.text("\"time\"")) else {
      throw syntax.error("\"time\" must be a time such as 2026-03-02T12:00:00Z.")
    }
    return time
  }
}

extension JSONSyntax {
  func objectMembers(_ what: String) throws(JSONError) -> [Member] {
    guard case .object(let members) = kind else { throw error("Expected \(what), found \(kindName).") }
    return members
  }

  func elements(_ what: String) throws(JSONError) -> [JSONSyntax] {
    guard case .array(let elements) = kind else { throw error("\(what) must be an array, not \(kindName).") }
    return elements
  }

  func text(_ what: String) throws(JSONError) -> String {
    guard case .string(let text) = kind else { throw error("\(what) must be a string, not \(kindName).") }
    return text
  }

  func count(_ what: String) throws(JSONError) -> Int {
    guard case .integer(let count) = kind, let count = Int(exactly: count), (0...Int(Int32.max)).contains(count) else {
      throw error("\(what) must be a number that is 0 or greater, not \(kindName).")
    }
    return count
  }
}

extension RulesQuery {
  /// Reads the query of a case:
  ///
  ///     {"where": ["n > 3", ["m", "<", 5], {"or": [["a", "==", 1], ["b", "==", 1]]}], "orderBy": ["n", "m desc"],
  ///      "limit": 5, "offset": 2, "group": "rooms"}
  ///
  /// All conditions of `where` must be true. Conditions as text, operators, fields and orders have the syntax of the
  /// command line. A single text needs no array.
  init(case syntax: JSONSyntax?, path: ResourcePath) throws(JSONError) {
    var query = Query(path: path)
    var offset = 0
    let members = try syntax?.objectMembers("a query") ?? []
    // Values for `__name__` are ids relative to the path; for a group, they are paths of documents.
    if let group = members.first(where: { $0.name == "group" }) {
      query.collectionGroup = try group.value.text("\"group\"")
    }
    for member in members {
      switch member.name {
      case "where": query.filters = try Self.filters(member.value, of: query)
      case "orderBy": query.explicitOrderBy = try Self.orderings(member.value)
      case "limit": query.limit = try member.value.count("\"limit\"")
      case "offset": offset = try member.value.count("\"offset\"")
      case "group": break
      default:
        throw member.value.error("\"\(member.name)\" is unknown. A query has where, orderBy, limit, offset, group.")
      }
    }
    self.init(target: query.target, offset: offset, explicitOrderBy: query.explicitOrderBy)
  }

  private static func filters(_ syntax: JSONSyntax, of query: Query) throws(JSONError) -> [Filter] {
    if case .string = syntax.kind { return try conditions(syntax, of: query) }
    var filters: [Filter] = []
    for element in try syntax.elements("A list of conditions") {
      if case .string = element.kind {
        filters += try conditions(element, of: query)
      } else {
        filters.append(try filter(element, of: query))
      }
    }
    return filters
  }

  /// Parses conditions in the syntax of `--where`.
  private static func conditions(_ syntax: JSONSyntax, of query: Query) throws(JSONError) -> [Filter] {
    try reading(syntax, "A condition") { text throws(TextError) in
      try ConditionText.parse(text, of: query, database: RulesCase.database)
    }
  }

  private static func filter(_ syntax: JSONSyntax, of query: Query) throws(JSONError) -> Filter {
    if case .object(let members) = syntax.kind {
      guard members.count == 1, ["and", "or"].contains(members[0].name) else {
        throw syntax.error(
          "A condition must be a string, [field, operator, value], {\"and\": [\u{2026}]} or {\"or\": [\u{2026}]}.")
      }
      let parts = try filters(members[0].value, of: query)
      return members[0].name == "and" ? .and(parts) : .or(parts)
    }
    let parts = try syntax.elements("A condition")
    guard parts.count == 3 else { throw syntax.error("A condition must be [field, operator, value].") }
    let path = try reading(parts[0], "A field") { text throws(TextError) in try FieldPathText.parse(text) }
    let op = try reading(parts[1], "An operator", OperatorText.parse)
    let value: Value
    do throws(JSONError) { value = try DocumentJSON.parseValue(parts[2].lineText, database: RulesCase.database) } catch
    {
      throw parts[2].error(error.reason)
    }
    guard path.isDocumentID else { return .field(FieldFilter(path, op, value)) }
    do throws(TextError) {
      return .field(FieldFilter(path, op, try DocumentName.value(value, of: query, RulesCase.database)))
    } catch {
      throw parts[2].error(error.reason)
    }
  }

  private static func orderings(_ syntax: JSONSyntax) throws(JSONError) -> [OrderBy] {
    if case .string = syntax.kind { return try reading(syntax, "A field", OrderText.parse) }
    var orderings: [OrderBy] = []
    for element in try syntax.elements("\"orderBy\"") {
      orderings += try reading(element, "A field", OrderText.parse)
    }
    return orderings
  }

  /// - Throws: an error at the position of the text, with the column inside the text.
  private static func reading<Result>(
    _ syntax: JSONSyntax, _ what: String, _ parse: (String) throws(TextError) -> Result
  ) throws(JSONError) -> Result {
    let text = try syntax.text(what)
    do throws(TextError) { return try parse(text) } catch { throw syntax.error("'\(text)', \(error)") }
  }
}

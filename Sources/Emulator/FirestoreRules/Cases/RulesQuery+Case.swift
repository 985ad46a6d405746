// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreText

extension RulesQuery {
  /// Reads the query of a case:
  ///
  ///     {"where": ["n > 3", ["m", "<", 5], {"or": [["a", "==", 1], ["b", "==", 1]]}], "orderBy": ["n", "m desc"],
  ///      "limit": 5, "offset": 2, "group": "rooms"}
  ///
  /// All of `where` holds. Conditions as text, operators, fields and orders are those of the command line; one text need
  /// not stand in a list.
  init(case syntax: JSONSyntax?, path: ResourcePath) throws(JSONError) {
    var query = Query(path: path)
    var offset = 0
    let members = try syntax?.objectMembers("a query") ?? []
    // Ids that `__name__` is compared with are below the path, or name documents of the group.
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
        throw member.value.error("\"\(member.name)\" is not known. A query has where, orderBy, limit, offset, group.")
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

  /// Conditions as text, as `--where` takes them.
  private static func conditions(_ syntax: JSONSyntax, of query: Query) throws(JSONError) -> [Filter] {
    try reading(syntax, "A condition") { text throws(TextError) in
      try ConditionText.parse(text, of: query, database: RulesCase.database)
    }
  }

  private static func filter(_ syntax: JSONSyntax, of query: Query) throws(JSONError) -> Filter {
    if case .object(let members) = syntax.kind {
      guard members.count == 1, ["and", "or"].contains(members[0].name) else {
        throw syntax.error(
          "A condition is a text, [field, operator, value], {\"and\": [\u{2026}]} or {\"or\": [\u{2026}]}.")
      }
      let parts = try filters(members[0].value, of: query)
      return members[0].name == "and" ? .and(parts) : .or(parts)
    }
    let parts = try syntax.elements("A condition")
    guard parts.count == 3 else { throw syntax.error("A condition is [field, operator, value].") }
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

  /// - Throws: an error at the text, which names the column in it.
  private static func reading<Result>(
    _ syntax: JSONSyntax, _ what: String, _ parse: (String) throws(TextError) -> Result
  ) throws(JSONError) -> Result {
    let text = try syntax.text(what)
    do throws(TextError) { return try parse(text) } catch { throw syntax.error("'\(text)', \(error)") }
  }
}

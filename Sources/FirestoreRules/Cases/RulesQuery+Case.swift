// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

extension RulesQuery {
  /// Reads the query of a case:
  ///
  ///     {"where": [["n", ">", 3], {"or": [["a", "==", 1], ["b", "==", 1]]}], "orderBy": ["n", "-m"],
  ///      "limit": 5, "offset": 2, "group": "rooms"}
  ///
  /// All of `where` holds; a minus before a field orders downwards.
  init(case syntax: JSONSyntax?, path: ResourcePath) throws(JSONError) {
    var query = Query(path: path)
    var offset = 0
    for member in try syntax?.objectMembers("a query") ?? [] {
      switch member.name {
      case "where": query.filters = try Self.filters(member.value)
      case "orderBy": query.explicitOrderBy = try Self.orderings(member.value)
      case "limit": query.limit = try member.value.count("\"limit\"")
      case "offset": offset = try member.value.count("\"offset\"")
      case "group": query.collectionGroup = try member.value.text("\"group\"")
      default:
        throw member.value.error("\"\(member.name)\" is not known. A query has where, orderBy, limit, offset, group.")
      }
    }
    self.init(target: query.target, offset: offset, explicitOrderBy: query.explicitOrderBy)
  }

  private static func filters(_ syntax: JSONSyntax) throws(JSONError) -> [Filter] {
    var filters: [Filter] = []
    for element in try syntax.elements("A list of conditions") { filters.append(try filter(element)) }
    return filters
  }

  private static func filter(_ syntax: JSONSyntax) throws(JSONError) -> Filter {
    if case .object(let members) = syntax.kind {
      guard members.count == 1, ["and", "or"].contains(members[0].name) else {
        throw syntax.error("A condition is [field, operator, value], {\"and\": [\u{2026}]} or {\"or\": [\u{2026}]}.")
      }
      let parts = try filters(members[0].value)
      return members[0].name == "and" ? .and(parts) : .or(parts)
    }
    let parts = try syntax.elements("A condition")
    guard parts.count == 3 else { throw syntax.error("A condition is [field, operator, value].") }
    let sign = try parts[1].text("An operator")
    guard let op = FieldFilter.Operator(rawValue: sign) else {
      let known = FieldFilter.Operator.allCases.map(\.rawValue).joined(separator: " ")
      throw parts[1].error("\"\(sign)\" is no operator; there are \(known).")
    }
    let value: Value
    do throws(JSONError) { value = try DocumentJSON.parseValue(parts[2].lineText, database: RulesCase.database) } catch {
      throw parts[2].error(error.reason)
    }
    return .field(FieldFilter(try path(parts[0]), op, value))
  }

  private static func path(_ syntax: JSONSyntax) throws(JSONError) -> FieldPath {
    let text = try syntax.text("A field")
    if text == "__name__" { return .documentID }
    do throws(ModelError) { return try FieldPath(validating: text) } catch { throw syntax.error(error.message) }
  }

  private static func orderings(_ syntax: JSONSyntax) throws(JSONError) -> [OrderBy] {
    var orderings: [OrderBy] = []
    for element in try syntax.elements("\"orderBy\"") {
      let text = try element.text("A field")
      let isDescending = text.hasPrefix("-")
      let name = JSONSyntax(.string(isDescending ? String(text.dropFirst()) : text), line: element.line, column: element.column)
      orderings.append(OrderBy(try path(name), isDescending ? .descending : .ascending))
    }
    return orderings
  }
}

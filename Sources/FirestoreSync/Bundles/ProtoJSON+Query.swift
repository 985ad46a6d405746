// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

extension ProtoJSON {
  /// The query of a `namedQuery` element.
  func bundledQuery(_ json: JSONSyntax) throws(JSONError) -> Query {
    let bundled = try member(json, "bundledQuery")
    let structured = try member(bundled, "structuredQuery")
    var query = Query(path: try path(member(bundled, "parent")))
    let from = try array(structured, "from")
    guard from.count == 1 else { throw structured.error("Expected one collection in \"from\".") }
    let collection = try string(from[0], "collectionId")
    if case .boolean(true)? = from[0]["allDescendants"]?.kind {
      query.collectionGroup = collection
    } else {
      query.path = query.path.appending(collection)
    }
    if let filter = structured["where"] {
      switch try self.filter(filter) {
      case .and(let filters): query.filters = filters
      case let other: query.filters = [other]
      }
    }
    for order in try array(structured, "orderBy") {
      let descends = try order["direction"].map { json throws(JSONError) in try string(json) } == "DESCENDING"
      query.explicitOrderBy.append(OrderBy(try field(order), descends ? .descending : .ascending))
    }
    if let limit = structured["limit"] { query.limit = Int(try integer(limit["value"] ?? limit)) }
    if case .string("LAST")? = bundled["limitType"]?.kind { query.limitType = .last }
    query.start = try structured["startAt"].map { json throws(JSONError) in try bound(json, inclusiveIf: true) }
    query.end = try structured["endAt"].map { json throws(JSONError) in try bound(json, inclusiveIf: false) }
    do throws(QueryError) { try query.validate() } catch { throw structured.error(error.message) }
    return query
  }

  private func field(_ json: JSONSyntax) throws(JSONError) -> FieldPath {
    let name = try member(member(json, "field"), "fieldPath")
    let text = try string(name)
    do throws(ModelError) { return try FieldPath(validating: text) } catch { throw name.error(error.message) }
  }

  private func bound(_ json: JSONSyntax, inclusiveIf before: Bool) throws(JSONError) -> Bound {
    var isBefore = false
    if case .boolean(true)? = json["before"]?.kind { isBefore = true }
    return Bound(values: try values(json), isInclusive: isBefore == before)
  }

  private func filter(_ json: JSONSyntax) throws(JSONError) -> Filter {
    if let composite = json["compositeFilter"] {
      var filters: [Filter] = []
      for filter in try array(composite, "filters") { filters.append(try self.filter(filter)) }
      return try string(composite, "op") == "OR" ? .or(filters) : .and(filters)
    }
    if let unary = json["unaryFilter"] {
      let op = try string(unary, "op")
      let value: Value = op.hasSuffix("NAN") ? .double(.nan) : .null
      return .field(FieldFilter(try field(unary), op.hasPrefix("IS_NOT") ? .notEqual : .equal, value))
    }
    let comparison = try member(json, "fieldFilter")
    let name = try member(comparison, "op")
    guard let op = Self.operators[try string(name)] else { throw name.error("Unknown operator.") }
    return .field(FieldFilter(try field(comparison), op, try value(member(comparison, "value"))))
  }

  private static let operators: [String: FieldFilter.Operator] = [
    "LESS_THAN": .lessThan, "LESS_THAN_OR_EQUAL": .lessThanOrEqual, "EQUAL": .equal, "NOT_EQUAL": .notEqual,
    "GREATER_THAN": .greaterThan, "GREATER_THAN_OR_EQUAL": .greaterThanOrEqual, "ARRAY_CONTAINS": .arrayContains,
    "ARRAY_CONTAINS_ANY": .arrayContainsAny, "IN": .in, "NOT_IN": .notIn,
  ]
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The error for an invalid query. The code is `invalid-argument`, and the message names the invalid clause.
package struct QueryError: Error, Hashable, Sendable, CustomStringConvertible {
  package var code: StatusCode
  package var message: String

  package init(_ message: String) {
    code = .invalidArgument
    self.message = message
  }

  package var description: String { message }
}

extension Query {
  /// The maximum number of disjunctions that the backend accepts, counted after normalization.
  package static let maximumDisjunctions = 30
  /// The maximum limit of a query. The protocol represents it as a 32-bit number.
  package static let maximumLimit = Int(Int32.max)

  /// Checks a query before it is sent. Reports everything that Firestore would reject (PROTOCOL §3.6).
  package func validate() throws(QueryError) {
    try validatePath()
    for filter in filters { try Self.validateStructure(filter) }
    let fieldFilters = filters.flatMap(\.fieldFilters)
    for filter in fieldFilters { try filter.validate() }
    try validateCombination(fieldFilters)
    try validateOrderBy()
    if let limit, limit <= 0 { throw QueryError("The limit is \(limit). It must be at least 1.") }
    if let limit, limit > Self.maximumLimit {
      throw QueryError("The limit is \(limit). It can be at most \(Self.maximumLimit).")
    }
    if limitType == .last, limit != nil, explicitOrderBy.isEmpty {
      throw QueryError("limit(toLast:) needs at least one order(by:), because it returns the end of that order.")
    }
    try validate(start, "start")
    try validate(end, "end")
  }

  private func validatePath() throws(QueryError) {
    if let collectionGroup {
      if collectionGroup.isEmpty { throw QueryError("The collection group id is empty.") }
      if collectionGroup.utf8.contains(UInt8(ascii: "/")) {
        throw QueryError(
          "The collection group id \"\(collectionGroup)\" contains \"/\". Use a single id, not a path.")
      }
    } else if path.isRoot {
      throw QueryError("The query names no collection.")
    } else if path.isDocument && !(filters.isEmpty && explicitOrderBy.isEmpty && limit == nil) {
      throw QueryError("\"\(path)\" names a document. Filters, orderings and limits need a collection.")
    }
  }

  private static func validateStructure(_ filter: Filter) throws(QueryError) {
    switch filter {
    case .field: return
    case .and(let filters), .or(let filters):
      if filters.isEmpty { throw QueryError("An AND or OR filter has no conditions.") }
      for filter in filters { try validateStructure(filter) }
    }
  }

  private func validateCombination(_ fieldFilters: [FieldFilter]) throws(QueryError) {
    let exclusive = fieldFilters.filter { $0.op == .notEqual || $0.op == .notIn }
    if exclusive.count > 1 {
      throw QueryError("The query has \(exclusive.count) filters with != or not-in. At most one is allowed.")
    }
    let disjunctive = fieldFilters.contains { $0.op == .in || $0.op == .arrayContainsAny }
    let hasOr = filters.contains(where: \.containsOr)
    if fieldFilters.contains(where: { $0.op == .notIn }) && (disjunctive || hasOr) {
      throw QueryError("not-in cannot be combined with in, array-contains-any or OR.")
    }
    let disjunctions = Filter.and(filters).disjunctions
    if disjunctions.count > Self.maximumDisjunctions {
      throw QueryError(
        "The query expands to \(disjunctions.count) alternatives, more than the \(Self.maximumDisjunctions) that are "
          + "allowed. Shorten its in, array-contains-any or OR lists.")
    }
    for conjunction in disjunctions where conjunction.filter(\.isArrayMembership).count > 1 {
      throw QueryError("A query may test array membership (array-contains, array-contains-any) once per alternative.")
    }
  }

  private func validateOrderBy() throws(QueryError) {
    var seen: Set<FieldPath> = []
    for order in explicitOrderBy {
      if seen.contains(.documentID) {
        throw QueryError(
          "order(by: \"\(order.path.canonicalText)\") follows an ordering by document id. Remove it: ids are unique."
        )
      }
      if let objection = order.path.objection {
        throw QueryError("The query is ordered by \"\(order.path.canonicalText)\", which is invalid: \(objection)")
      }
      if !seen.insert(order.path).inserted {
        throw QueryError("The query is ordered by \"\(order.path.canonicalText)\" twice.")
      }
    }
  }

  private func validate(_ bound: Bound?, _ which: String) throws(QueryError) {
    guard let bound else { return }
    let orderBy = orderBy
    if bound.values.isEmpty { throw QueryError("The \(which) cursor has no values.") }
    // A cursor from a snapshot also has values for the implied orderings, which were made explicit. A cursor from
    // values only covers explicit orderings.
    if bound.values.count > orderBy.count {
      throw QueryError(
        "The \(which) cursor has \(bound.values.count) values, but the query has \(orderBy.count) orderings.")
    }
    for (value, order) in zip(bound.values, orderBy) {
      if case .serverTimestamp = value {
        throw QueryError(
          "The \(which) cursor uses \"\(order.path.canonicalText)\", but that field is a pending server timestamp.")
      }
      guard order.path.isDocumentID else { continue }
      guard case .reference(_, let key) = value else {
        throw QueryError("The \(which) cursor needs a document id for the ordering by document id.")
      }
      if collectionGroup == nil && key.collection != path {
        throw QueryError("The \(which) cursor names \"\(key)\", which is not in \"\(path)\".")
      }
    }
  }
}

extension FieldFilter {
  /// The maximum size in bytes of a filter's operand (PROTOCOL §3.6). Indexes also contain at most this many bytes of a
  /// field.
  package static let valueByteLimit = 1500

  fileprivate func validate() throws(QueryError) {
    let name = path.canonicalText
    if let objection = path.objection { throw QueryError("The field path \"\(name)\" is invalid: \(objection)") }
    for value in [value] + value.elements {
      switch value {
      case .string(let text) where text.utf8.count > Self.valueByteLimit: break
      case .bytes(let bytes) where bytes.count > Self.valueByteLimit: break
      case .serverTimestamp:
        throw QueryError("\"\(name)\" \(op.rawValue) cannot compare with a pending server timestamp.")
      default: continue
      }
      throw QueryError("The value in the condition on \"\(name)\" is longer than \(Self.valueByteLimit) bytes.")
    }
    switch op {
    case .in, .notIn, .arrayContainsAny:
      guard case .array(let values) = value else {
        throw QueryError("\"\(name)\" \(op.rawValue) needs an array of values.")
      }
      if values.isEmpty { throw QueryError("\"\(name)\" \(op.rawValue) needs at least one value.") }
      let maximum = op == .notIn ? 10 : 30
      if values.count > maximum {
        throw QueryError("\"\(name)\" \(op.rawValue) has \(values.count) values. At most \(maximum) are allowed.")
      }
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      if value == .null {
        throw QueryError("\"\(name)\" \(op.rawValue) null matches nothing. Null can be compared with == and != only.")
      }
      if case .double(let number) = value, number.isNaN {
        throw QueryError("\"\(name)\" \(op.rawValue) NaN matches nothing. NaN can be compared with == and != only.")
      }
    case .equal, .notEqual, .arrayContains: break
    }
    guard path.isDocumentID else { return }
    if isArrayMembership { throw QueryError("\(op.rawValue) cannot be used on the document id.") }
    let values = op == .in || op == .notIn ? value.elements : [value]
    for value in values {
      guard case .reference = value else {
        throw QueryError(
          "A filter on the document id needs a document id or reference, not a value of type \(value.typeName).")
      }
    }
  }

  fileprivate var isArrayMembership: Bool { op == .arrayContains || op == .arrayContainsAny }
}

extension Filter {
  fileprivate var containsOr: Bool {
    switch self {
    case .field: false
    case .and(let filters): filters.contains(where: \.containsOr)
    case .or(let filters): filters.count > 1 || filters.contains(where: \.containsOr)
    }
  }
}

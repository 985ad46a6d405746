// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

extension RequestedQuery {
  /// The query to run, if the service accepts it (PROTOCOL §3.6).
  func served(below parent: ResourcePath, in database: DatabaseID) throws(RPCStatus) -> ServedQuery {
    if selectors.count > 1 {
      throw .invalid("StructuredQuery.from cannot have more than one collection selector.")
    }
    let selector = selectors.first ?? Selector()
    let isKindless = selector.collectionID.isEmpty
    if !isKindless { try ResourceName.checkCollectionID(selector.collectionID) }
    if let limit, limit < 0 { throw .invalid("limit is negative") }
    if offset < 0 { throw .invalid("offset is negative") }
    let filters: [Filter] = if case .and(let filters)? = filter { filters } else { filter.map { [$0] } ?? [] }
    try checkCount(filters, parent)
    try check(filters.flatMap(\.fieldFilters), in: database)
    try checkCombination(filters)
    try checkOrder()
    if selector.allDescendants, !parent.isRoot { try checkBelowDocument(filters) }
    if isKindless { try checkKindless(filters) }
    if selector.allDescendants, !isKindless, !parent.isRoot { try checkDirectionBelowDocument() }
    let isGroup = selector.allDescendants && !isKindless
    let query = Query(
      path: isKindless || isGroup ? parent : parent.appending(selector.collectionID),
      collectionGroup: isGroup ? selector.collectionID : nil, filters: filters, explicitOrderBy: orderBy, limit: limit,
      start: try checked(start), end: try checked(end))
    let scope: ServedQuery.Scope = !isKindless ? .target : selector.allDescendants ? .descendants : .children
    return ServedQuery(query.target, scope: scope, offset: offset, projection: projection, nearest: nearest)
  }

  private func check(_ filters: [FieldFilter], in database: DatabaseID) throws(RPCStatus) {
    for filter in filters where !filter.matchesNothing {
      let values = try checkList(filter)
      let name = filter.path.canonicalText
      for value in values {
        switch value {
        case .string(let text) where text.utf8.count > FieldFilter.valueByteLimit: break
        case .bytes(let bytes) where bytes.count > FieldFilter.valueByteLimit: break
        default: continue
        }
        throw .invalid("value for \(name) is too large to be used in a query")
      }
      guard filter.path.isDocumentID else { continue }
      if filter.op == .arrayContains || filter.op == .arrayContainsAny {
        throw .invalid("the name __key__ is reserved")
      }
      for value in values {
        guard case .reference(let other, _) = value else { throw .invalid("__key__ filter value must be a Key") }
        if other != database { throw .strays(from: database, to: other) }
      }
    }
  }

  /// - Returns: the values that the filter compares with.
  private func checkList(_ filter: FieldFilter) throws(RPCStatus) -> [Value] {
    let (name, maximum) =
      switch filter.op {
      case .in: ("IN", 30)
      case .arrayContainsAny: ("ARRAY_CONTAINS_ANY", 30)
      case .notIn: ("NOT_IN", 10)
      default: ("", 0)
      }
    if maximum == 0 { return [filter.value] }
    guard case .array(let values) = filter.value else { throw .invalid("'\(name)' requires an ArrayValue.") }
    if values.isEmpty { throw .invalid("'\(name)' requires an non-empty ArrayValue.") }
    if values.count > maximum { throw .invalid("'\(name)' supports up to \(maximum) comparison values.") }
    return values
  }

  /// Checks the number of the query's parts. This number determines the cost of the query's disjunctive form.
  private func checkCount(_ filters: [Filter], _ parent: ResourcePath) throws(RPCStatus) {
    let fields = filters.reduce(0) { $0 + $1.fieldFilters.count }
    let count = fields + orderBy.count + (parent.isRoot ? 0 : 1)
    if count > Self.maximumParts {
      throw .invalid(
        "A query may have at most \(Self.maximumParts) filters, sort orders and parent document together; this one has "
          + "\(count).")
    }
  }

  /// The maximum number of filters and sort orders, plus one for a parent document (PROTOCOL §3.6).
  private static let maximumParts = 100

  static let notInWithAlternatives =
    "'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'."

  private func checkCombination(_ filters: [Filter]) throws(RPCStatus) {
    // A filter that matches nothing is represented by an empty list, and does not count as an alternative.
    let fields = filters.flatMap(\.fieldFilters).filter { !$0.matchesNothing }
    let excluding = fields.filter { $0.op == .notEqual || $0.op == .notIn }
    if excluding.count > 1 {
      throw .invalid("Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per query.")
    }
    let isDisjunctive =
      fields.contains { $0.op == .in || $0.op == .arrayContainsAny } || filters.contains(where: \.hasAlternatives)
    if isDisjunctive, fields.contains(where: { $0.op == .notIn }) {
      throw .invalid(Self.notInWithAlternatives)
    }
    let alternatives = Filter.and(filters).disjunctions
    if alternatives.count > Query.maximumDisjunctions {
      throw .invalid(
        "Too many disjunctions after normalization. Result had \(alternatives.count) disjunctions which is more than "
          + "the maximum of \(Query.maximumDisjunctions)")
    }
    for alternative in alternatives where alternative.count(where: { $0.op == .arrayContains }) > 1 {
      throw .invalid("A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.")
    }
    for alternative in alternatives where alternative.fixesNameBesideInequalities {
      throw .invalid(
        "Equality on key is not allowed if there are other inequality fields and key does not appear in inequalities.")
    }
  }

  private func checkOrder() throws(RPCStatus) {
    var seen: Set<FieldPath> = []
    for order in orderBy {
      if seen.contains(.documentID) { throw .invalid("order by clause cannot contain more fields after the key") }
      if !seen.insert(order.path).inserted {
        throw .invalid("order by clause cannot contain duplicate fields \(order.path.canonicalText)")
      }
    }
  }

  private func checkKindless(_ filters: [Filter]) throws(RPCStatus) {
    if let filter = filters.flatMap(\.fieldFilters).first(where: { !$0.path.isDocumentID }) {
      throw .invalid("kind is required for filter: \(filter.path.canonicalText)")
    }
    if orderBy.contains(where: { !$0.path.isDocumentID || $0.direction == .descending }) {
      throw .invalid("kind is required for all orders except __key__ ascending")
    }
  }

  /// Rejects a query over all collections or a collection group below a document, unless it filters and sorts only by
  /// `__name__`.
  private func checkBelowDocument(_ filters: [Filter]) throws(RPCStatus) {
    guard filters.flatMap(\.fieldFilters).allSatisfy(\.path.isDocumentID), orderBy.allSatisfy(\.path.isDocumentID)
    else {
      throw .invalid("collection group queries are only allowed at the root parent")
    }
  }

  private func checkDirectionBelowDocument() throws(RPCStatus) {
    guard orderBy.contains(where: { $0.direction == .descending }) else { return }
    throw RPCStatus(
      .failedPrecondition,
      "The query requires an index. Collection group queries below a document cannot sort __name__ descending.")
  }

  private func checked(_ bound: Bound?) throws(RPCStatus) -> Bound? {
    guard let bound, !bound.values.isEmpty else { return nil }
    if bound.values.count > orderBy.count { throw .invalid("Cursor has too many values.") }
    for (value, order) in zip(bound.values, orderBy) where order.path.isDocumentID {
      guard case .reference = value else { throw .invalid("The cursor value for __name__ must be a reference.") }
    }
    return bound
  }

}

extension ServedQuery {
  /// Rejects aggregations that need an index with the aggregated fields after the document's name. Google's servers
  /// have no such index.
  /// - Parameter orderBy: the explicit orders.
  func check(_ aggregations: [Aggregation], ordered orderBy: [OrderBy]) throws(RPCStatus) {
    if let projection { try Self.check(aggregations, selecting: projection) }
    let filters = target.filters.flatMap(\.fieldFilters)
    let isBelowDocument = !target.path.isRoot && (scope == .descendants || target.collectionGroup != nil)
    guard
      isBelowDocument || orderBy.contains(where: \.path.isDocumentID) || filters.contains(where: \.path.isDocumentID)
    else { return }
    let ordered = Set(orderBy.map(\.path) + filters.filter(\.op.isInequality).map(\.path))
    let fields = Set(aggregations.compactMap(\.path)).subtracting(ordered).sorted().map(\.canonicalText)
    if fields.isEmpty { return }
    throw .invalid(
      "This query requires an index with fields [\(fields.joined(separator: ", "))] after __name__ and Firestore does not "
        + "currently support such an index. Please try the query again with additional ordering on those fields.")
  }

  /// Rejects sums and averages of a query that selects fields.
  private static func check(_ aggregations: [Aggregation], selecting mask: FieldMask) throws(RPCStatus) {
    let fields = aggregations.compactMap(\.path)
    if fields.isEmpty { return }
    if mask.paths.isEmpty {
      throw .invalid("Aggregation over non-key properties is not supported for base query that only returns keys.")
    }
    if let absent = fields.first(where: { !mask.paths.contains($0) }) {
      throw .invalid(
        "The aggregation property \(absent.canonicalText) is not present in the base query's property mask.")
    }
    throw .invalid("Cannot apply property masks when aggregation fields are present.")
  }
}

extension [FieldFilter] {
  /// Whether there is an equality filter on the document's name, and inequalities only on other fields.
  fileprivate var fixesNameBesideInequalities: Bool {
    let inequalities = filter { $0.op.isInequality && !$0.matchesNothing }
    return contains { $0.path.isDocumentID && $0.op == .equal } && !inequalities.isEmpty
      && !inequalities.contains { $0.path.isDocumentID }
  }
}

extension Filter {
  fileprivate var hasAlternatives: Bool {
    switch self {
    case .field: false
    case .and(let filters): filters.contains(where: \.hasAlternatives)
    case .or(let filters): filters.count > 1 || filters.contains(where: \.hasAlternatives)
    }
  }
}

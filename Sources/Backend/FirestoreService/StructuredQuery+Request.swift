// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// A `StructuredQuery` with valid parts, before it is checked as a whole.
struct RequestedQuery {
  typealias Selector = QueryMessage.Selector

  var projection: FieldMask?
  var selectors: [Selector] = []
  var filter: Filter?
  var orderBy: [OrderBy] = []
  var limit: Int?
  var offset = 0
  var start: Bound?
  var end: Bound?
  var nearest: NearestNeighbors?
}

extension ServedQuery {
  /// - Throws: `invalid-argument` for the query's errors, with the real service's text.
  init(request message: QueryMessage?, below parent: ResourcePath, in database: DatabaseID) throws(RPCStatus) {
    guard let message else { throw .invalid("only structured queries are supported") }
    self = try RequestedQuery(message).served(below: parent, in: database)
  }
}

extension QueryMessage {
  /// The explicit orderings, up to the first invalid one.
  var explicitOrderings: [OrderBy] {
    orderBy.compactMap { order in
      (try? FieldPath(request: order.path)).map { OrderBy($0, order.direction == 2 ? .descending : .ascending) }
    }
  }
}

extension RequestedQuery {
  init(_ message: QueryMessage) throws(RPCStatus) {
    if let paths = message.projection {
      let named = try paths.map { path throws(RPCStatus) in try FieldPath(request: path) }
      projection = FieldMask(named.filter { !$0.isDocumentID })
    }
    selectors = message.selectors
    filter = try message.filter.map { filter throws(RPCStatus) in try Filter(request: filter) }
    orderBy = try message.orderBy.map { order throws(RPCStatus) in
      OrderBy(try FieldPath(request: order.path), order.direction == 2 ? .descending : .ascending)
    }
    // Limit and offset are `int32`.
    limit = message.limit.map { Int(Int32(truncatingIfNeeded: $0)) }
    offset = Int(Int32(truncatingIfNeeded: message.offset))
    if let cursor = message.start { start = Bound(values: try Self.checked(cursor.values), isInclusive: cursor.before) }
    if let cursor = message.end { end = Bound(values: try Self.checked(cursor.values), isInclusive: !cursor.before) }
    nearest = try message.nearest.map { nearest throws(RPCStatus) in try NearestNeighbors(nearest) }
  }

  private static func checked(_ values: [Value]) throws(RPCStatus) -> [Value] {
    for value in values { try RequestReader.check(value) }
    return values
  }
}

extension NearestNeighbors {
  fileprivate init(_ message: QueryMessage.Nearest) throws(RPCStatus) {
    guard let measure = ([1: .euclidean, 2: .cosine, 3: .dotProduct] as [Int64: Measure])[message.measure] else {
      throw .invalid("FindNearest.distance_measure must be specified.")
    }
    guard case .vector(let elements)? = message.vector, !elements.isEmpty else {
      throw .invalid("FindNearest.query_vector must be a vector.")
    }
    guard (1...1000).contains(message.limit) else {
      throw .invalid("FindNearest.limit must be a positive integer of no more than 1000")
    }
    self.init(
      path: try FieldPath(request: message.path), vector: elements, measure: measure, limit: Int(message.limit),
      resultField: message.resultField.isEmpty ? nil : try FieldPath(request: message.resultField),
      threshold: message.threshold)
  }
}

extension AggregationQueryMessage {
  /// Returns the aggregations, and the maximum counts by alias.
  /// - Throws: `invalid-argument` with the real service's text.
  func checked() throws(RPCStatus) -> (aggregations: [FirestoreQuery.Aggregation], caps: [String: Int64]) {
    var (unnamed, caps) = (0, [String: Int64]())
    let named = try aggregations.map { part throws(RPCStatus) in
      var alias = part.alias
      if alias.isEmpty {
        unnamed += 1
        alias = "field_\(unnamed)"
      }
      if alias.isReservedName { throw .invalid("The property.name \"\(alias)\" is reserved.") }
      let function: FirestoreQuery.Aggregation.Function
      switch part.function {
      case nil: throw .invalid("Operator field in Aggregation is not set.")
      case .count(let cap):
        if let cap, cap < 0 { throw .invalid("Count.up_to must not be negative.") }
        caps[alias] = cap
        function = .count
      case .sum(let path): function = .sum(try FieldPath(request: path))
      case .average(let path): function = .average(try FieldPath(request: path))
      }
      return FirestoreQuery.Aggregation(alias: alias, function: function)
    }
    try LocalBackend.check(named)
    return (named, caps)
  }
}

extension Filter {
  /// Creates a filter. A condition without a type matches everything.
  /// - Throws: `invalid-argument` with the real service's text.
  init(request condition: QueryMessage.Condition) throws(RPCStatus) {
    switch condition {
    case .none: self = .and([])
    case .tooDeep:
      throw .invalid("Filters are nested more than \(QueryMessage.maximumDepth) levels deep.")
    case .composite(let op, let conditions): self = try Self.composite(op, conditions)
    case .field(let path, let op, let value): self = .field(try FieldFilter(request: path, op, value))
    case .unary(let path, let op):
      guard let filter = FieldFilter(try FieldPath(request: path), unaryNumber: op) else {
        throw .invalid("Unknown UnaryFilter operator.")
      }
      self = .field(filter)
    }
  }

  private static func composite(
    _ op: Int64, _ conditions: [QueryMessage.Condition]
  ) throws(RPCStatus) -> Filter {
    if op == 2, conditions.isEmpty { throw .invalid("Composite filter must have at least one sub-filter.") }
    let filters = try conditions.map { condition throws(RPCStatus) in try Filter(request: condition) }
    switch op {
    case 1: return .and(filters)
    case 2 where filters.contains { $0.fieldFilters.contains { $0.op == .notIn } }:
      throw .invalid(RequestedQuery.notInWithAlternatives)
    case 2: return filters.count == 1 ? filters[0] : .or(filters)
    default: throw .invalid("Unsupported CompositeFilter operator.")
    }
  }
}

extension FieldFilter {
  fileprivate init(request path: String, _ op: Int64, _ value: Value?) throws(RPCStatus) {
    guard let op = Operator(wireNumber: Int(op)) else {
      throw .invalid("Unknown FieldFilter operator.")
    }
    guard let value else {
      throw .invalid("Cannot convert firestore.v1.Value with type unset.")
    }
    try RequestReader.check(value)
    // An empty list means "matches nothing" from here on.
    if op == .in, value == .array([]) {
      throw .invalid("'IN' requires an non-empty ArrayValue.")
    }
    self = FieldFilter(try FieldPath(request: path), op, value).asServed
  }

  /// The filter with the real service's semantics. Comparisons with null and NaN work only as unary filters (PROTOCOL
  /// §3.7). As field filters they match nothing, except that `!= NaN` matches every value that is not null.
  private var asServed: FieldFilter {
    let isNull = value == .null
    guard isNull || value == .double(.nan) else { return self }
    switch op {
    case .notEqual where !isNull: return FieldFilter(path, .notEqual, .null)
    case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      return FieldFilter(path, .in, .array([]))
    case .arrayContains, .arrayContainsAny, .in, .notIn: return self
    }
  }

  /// Whether the filter matches nothing.
  var matchesNothing: Bool { op == .in && value == .array([]) }
}

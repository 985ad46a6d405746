// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

extension Filter {
  /// One without a type restricts nothing.
  /// - Throws: `invalid-argument` in the words of the real service.
  init(request condition: QueryMessage.Condition) throws(RPCStatus) {
    switch condition {
    case .none: self = .and([])
    case .tooDeep:
      throw .invalid("Filters are nested more than \(QueryMessage.maximumDepth) deep.")
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
    // An empty list stands for "matches nothing" from here on.
    if op == .in, value == .array([]) {
      throw .invalid("'IN' requires an non-empty ArrayValue.")
    }
    self = FieldFilter(try FieldPath(request: path), op, value).asServed
  }

  /// Comparisons with null and NaN mean something as unary filters only (PROTOCOL §3.7): as field filters they match
  /// nothing, except that `!= NaN` matches whatever is not null.
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

  /// Whether it stands for a comparison that nothing satisfies.
  var matchesNothing: Bool { op == .in && value == .array([]) }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// Filters as they come; deeper nesting is refused, so that hostile bytes cannot exhaust the stack.
private let maximumDepth = 64

extension RequestField {
  /// A `Filter`. One without a type restricts nothing.
  mutating func filter(depth: Int) throws(RPCStatus) -> Filter? {
    if depth > maximumDepth { throw RPCStatus(.invalidArgument, "Filters are nested more than \(maximumDepth) deep.") }
    return try message { inner throws(RPCStatus) in
      var filter = Filter.and([])
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: filter = try field.compositeFilter(depth: depth) ?? filter
        case 2: filter = try field.fieldFilter().map { .field($0) } ?? filter
        case 3: filter = try field.unaryFilter().map { .field($0) } ?? filter
        default: break
        }
      }
      return filter
    }
  }

  private mutating func compositeFilter(depth: Int) throws(RPCStatus) -> Filter? {
    try message { inner throws(RPCStatus) in
      var op: Int64 = 0
      var filters: [Filter] = []
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: op = try field.integer() ?? op
        case 2: if let filter = try field.filter(depth: depth + 1) { filters.append(filter) }
        default: break
        }
      }
      switch op {
      case 1: return .and(filters)
      case 2 where filters.contains { $0.fieldFilters.contains { $0.op == .notIn } }:
        throw RPCStatus(.invalidArgument, RequestedQuery.notInWithAlternatives)
      case 2: return filters.count == 1 ? filters[0] : .or(filters)
      default: throw RPCStatus(.invalidArgument, "Unsupported CompositeFilter operator.")
      }
    }
  }

  private mutating func fieldFilter() throws(RPCStatus) -> FieldFilter? {
    try message { inner throws(RPCStatus) in
      var path: FieldPath?
      var op: FieldFilter.Operator?
      var value: Value?
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: path = try field.fieldReference() ?? path
        case 2: op = try field.integer().flatMap { FieldFilter.Operator(wireNumber: Int(truncatingIfNeeded: $0)) } ?? op
        case 3: value = try field.value() ?? value
        default: break
        }
      }
      guard let op else { throw RPCStatus(.invalidArgument, "Unknown FieldFilter operator.") }
      guard let value else {
        throw RPCStatus(.invalidArgument, "Cannot convert firestore.v1.Value with type unset.")
      }
      // An empty list stands for "matches nothing" from here on.
      if op == .in, value == .array([]) {
        throw RPCStatus(.invalidArgument, "'IN' requires an non-empty ArrayValue.")
      }
      return FieldFilter(try FieldPath(required: path), op, value).asServed
    }
  }

  private mutating func unaryFilter() throws(RPCStatus) -> FieldFilter? {
    try message { inner throws(RPCStatus) in
      var path: FieldPath?
      var op: Int64 = 0
      try inner.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: op = try field.integer() ?? op
        case 2: path = try field.fieldReference() ?? path
        default: break
        }
      }
      guard let filter = FieldFilter(try FieldPath(required: path), unaryNumber: UInt64(bitPattern: op)) else {
        throw RPCStatus(.invalidArgument, "Unknown UnaryFilter operator.")
      }
      return filter
    }
  }
}

extension FieldFilter {
  /// Comparisons with null and NaN mean something as unary filters only (PROTOCOL §3.7): as field filters they match
  /// nothing, except that `!= NaN` matches whatever is not null.
  fileprivate var asServed: FieldFilter {
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

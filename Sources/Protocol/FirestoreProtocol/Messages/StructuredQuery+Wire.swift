// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

extension WireWriter {
  /// The content of a `google.firestore.v1.StructuredQuery`, which names the collection but not its parent.
  package mutating func structuredQuery(_ query: Query) {
    if let id = query.collectionGroup ?? (query.path.isCollection ? query.path.last : nil) {
      field(2) { writer in
        writer.field(2, string: id)
        if query.collectionGroup != nil { writer.field(3, boolean: true) }
      }
    }
    // A single condition is written alone, unless it would be read as the list of conditions.
    switch (query.filters.count, query.filters.first) {
    case (0, _): break
    case (1, .field(let filter)?): field(3) { $0.filter(.field(filter)) }
    case (1, .or(let filters)?): field(3) { $0.filter(.or(filters)) }
    default: field(3) { $0.filter(.and(query.filters)) }
    }
    for order in query.explicitOrderBy {
      field(4) { writer in
        writer.fieldReference(1, order.path)
        writer.field(2, varint: order.direction == .ascending ? 1 : 2)
      }
    }
    if let limit = query.limit { field(5) { $0.field(1, integer: Int64(limit)) } }
    if let start = query.start { field(7) { $0.cursor(start.values, before: start.isInclusive) } }
    if let end = query.end { field(8) { $0.cursor(end.values, before: !end.isInclusive) } }
  }

  /// A field with a `google.firestore.v1.StructuredQuery.FieldReference`.
  mutating func fieldReference(_ number: Int, _ path: FieldPath) {
    field(number) { $0.field(2, string: path.canonicalText) }
  }

  private mutating func filter(_ filter: Filter) {
    switch filter {
    case .field(let filter):
      if let unary = filter.unaryNumber {
        field(3) { writer in
          writer.field(1, varint: unary)
          writer.fieldReference(2, filter.path)
        }
        return
      }
      field(2) { writer in
        writer.fieldReference(1, filter.path)
        writer.field(2, varint: UInt64(filter.op.wireNumber))
        writer.field(3) { $0.value(filter.value) }
      }
    case .and(let filters): composite(1, filters)
    case .or(let filters): composite(2, filters)
    }
  }

  private mutating func composite(_ op: UInt64, _ filters: [Filter]) {
    field(1) { writer in
      writer.field(1, varint: op)
      for filter in filters { writer.field(2) { $0.filter(filter) } }
    }
  }

  /// The content of a `google.firestore.v1.Cursor`.
  package mutating func cursor(_ values: [Value], before: Bool) {
    for value in values { field(1) { $0.value(value) } }
    if before { field(2, boolean: true) }
  }
}

extension FieldFilter {
  /// The number of the `google.firestore.v1.StructuredQuery.UnaryFilter.Operator`: comparisons with null and NaN are
  /// only understood in this form (PROTOCOL §3.7).
  fileprivate var unaryNumber: UInt64? {
    switch (op, value) {
    case (.equal, .double(let number)) where number.isNaN: 2
    case (.equal, .null): 3
    case (.notEqual, .double(let number)) where number.isNaN: 4
    case (.notEqual, .null): 5
    default: nil
    }
  }

  /// Makes the filter of a unary operator.
  /// - Returns: `nil` for a number that is no unary operator.
  package init?(_ path: FieldPath, unaryNumber: Int64) {
    switch unaryNumber {
    case 2: self.init(path, .equal, .double(.nan))
    case 3: self.init(path, .equal, .null)
    case 4: self.init(path, .notEqual, .double(.nan))
    case 5: self.init(path, .notEqual, .null)
    default: return nil
    }
  }
}

extension FieldFilter.Operator {
  /// The number of the `google.firestore.v1.StructuredQuery.FieldFilter.Operator`.
  var wireNumber: Int {
    switch self {
    case .lessThan: 1
    case .lessThanOrEqual: 2
    case .greaterThan: 3
    case .greaterThanOrEqual: 4
    case .equal: 5
    case .notEqual: 6
    case .arrayContains: 7
    case .in: 8
    case .arrayContainsAny: 9
    case .notIn: 10
    }
  }

  /// Makes the operator of a number.
  /// - Returns: `nil` for a number that is no operator.
  package init?(wireNumber: Int) {
    guard let op = Self.allCases.first(where: { $0.wireNumber == wireNumber }) else { return nil }
    self = op
  }
}

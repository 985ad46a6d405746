// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
import SwiftProtobuf

extension Filter {
  package init(_ message: Wire.StructuredQuery.Filter) throws(ModelError) {
    switch message.filterType {
    case .fieldFilter(let filter): self = .field(try FieldFilter(filter))
    case .unaryFilter(let filter): self = .field(try FieldFilter(filter))
    case .compositeFilter(let composite):
      let filters = try composite.filters.map { filter throws(ModelError) in try Filter(filter) }
      switch composite.op {
      case .and: self = .and(filters)
      case .or: self = .or(filters)
      case .unspecified, .UNRECOGNIZED: throw ModelError("A composite filter has no operator that is known.")
      }
    case nil: throw ModelError("A filter has no type. Give it a field, unary or composite filter.")
    }
  }

  package var message: Wire.StructuredQuery.Filter {
    .with { message in
      switch self {
      case .field(let filter):
        if let op = filter.unaryOperator {
          message.unaryFilter = .with { ($0.field, $0.op) = (filter.path.reference, op) }
        } else {
          message.fieldFilter = .with { field in
            (field.field, field.op, field.value) = (filter.path.reference, filter.op.message, filter.value.message)
          }
        }
      case .and(let filters): message.compositeFilter = .with { ($0.op, $0.filters) = (.and, filters.map(\.message)) }
      case .or(let filters): message.compositeFilter = .with { ($0.op, $0.filters) = (.or, filters.map(\.message)) }
      }
    }
  }
}

extension FieldFilter {
  fileprivate init(_ message: Wire.StructuredQuery.FieldFilter) throws(ModelError) {
    let path = try FieldPath(wireText: message.field.fieldPath)
    guard let op = Operator(message.op) else { throw ModelError("The filter on \"\(path)\" has no known operator.") }
    self.init(path, op, try Value(message.value))
  }

  fileprivate init(_ message: Wire.StructuredQuery.UnaryFilter) throws(ModelError) {
    let path = try FieldPath(wireText: message.field.fieldPath)
    switch message.op {
    case .isNan: self.init(path, .equal, .double(.nan))
    case .isNull: self.init(path, .equal, .null)
    case .isNotNan: self.init(path, .notEqual, .double(.nan))
    case .isNotNull: self.init(path, .notEqual, .null)
    case .unspecified, .UNRECOGNIZED: throw ModelError("The unary filter on \"\(path)\" has no known operator.")
    }
  }

  /// Comparisons with null and NaN are only understood as unary filters (PROTOCOL §3.7).
  fileprivate var unaryOperator: Wire.StructuredQuery.UnaryFilter.Operator? {
    switch (op, value) {
    case (.equal, .double(let number)) where number.isNaN: .isNan
    case (.equal, .null): .isNull
    case (.notEqual, .double(let number)) where number.isNaN: .isNotNan
    case (.notEqual, .null): .isNotNull
    default: nil
    }
  }
}

extension FieldFilter.Operator {
  fileprivate init?(_ message: Wire.StructuredQuery.FieldFilter.Operator) {
    guard let op = Self.allCases.first(where: { $0.message == message }) else { return nil }
    self = op
  }

  fileprivate var message: Wire.StructuredQuery.FieldFilter.Operator {
    switch self {
    case .lessThan: .lessThan
    case .lessThanOrEqual: .lessThanOrEqual
    case .greaterThan: .greaterThan
    case .greaterThanOrEqual: .greaterThanOrEqual
    case .equal: .equal
    case .notEqual: .notEqual
    case .arrayContains: .arrayContains
    case .in: .in
    case .arrayContainsAny: .arrayContainsAny
    case .notIn: .notIn
    }
  }
}

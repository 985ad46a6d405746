// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreQuery
import SwiftProtobuf

extension Filter {
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

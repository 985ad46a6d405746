// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// Between which codes the values of a field must lie for a document to match. Some of those that do not match may
/// lie there as well.
struct CodeRange {
  let path: FieldPath
  let lower: FieldColumn.Code
  let upper: FieldColumn.Code

  private init(_ path: FieldPath, _ lower: FieldColumn.Code, _ upper: FieldColumn.Code) {
    self.path = path
    self.lower = lower
    self.upper = upper
  }

  /// - Returns: `nil` for a condition that says nothing about the order of the field's values.
  init?(_ filter: FieldFilter) {
    if filter.path.isDocumentID { return nil }
    let code = FieldColumn.code(of: filter.value)
    switch filter.op {
    case .equal: self.init(filter.path, code, code)
    case .lessThan, .lessThanOrEqual: self.init(filter.path, code.leastOfType, code)
    case .greaterThan, .greaterThanOrEqual: self.init(filter.path, code, code.greatestOfType)
    case .notEqual, .in, .notIn, .arrayContains, .arrayContainsAny: return nil
    }
  }

  /// What does not come after a document with this value in a query's first ordering.
  init(notAfter value: Value, _ order: OrderBy) {
    let code = FieldColumn.code(of: value)
    switch order.direction {
    case .ascending: self.init(order.path, .least, code)
    case .descending: self.init(order.path, code, .greatest)
    }
  }

  /// What all documents of the target must satisfy.
  static func all(of target: Target) -> [CodeRange] {
    target.filters.compactMap { if case .field(let filter) = $0 { CodeRange(filter) } else { nil } }
  }
}

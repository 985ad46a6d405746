// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A condition on a document.
package indirect enum Filter: Codable, Hashable, Sendable {
  case field(FieldFilter)
  case and([Filter])
  case or([Filter])

  /// All conditions on single fields, in reading order.
  package var fieldFilters: [FieldFilter] {
    switch self {
    case .field(let filter): [filter]
    case .and(let filters), .or(let filters): filters.flatMap(\.fieldFilters)
    }
  }
}

/// A condition on one field.
package struct FieldFilter: Codable, Hashable, Sendable {
  package enum Operator: String, Codable, Hashable, Sendable, CaseIterable {
    case lessThan = "<"
    case lessThanOrEqual = "<="
    case equal = "=="
    case notEqual = "!="
    case greaterThan = ">"
    case greaterThanOrEqual = ">="
    case arrayContains = "array-contains"
    case arrayContainsAny = "array-contains-any"
    case `in` = "in"
    case notIn = "not-in"

    /// Whether the operator implies an ordering by its field.
    package var isInequality: Bool {
      switch self {
      case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .notEqual, .notIn: true
      case .equal, .arrayContains, .arrayContainsAny, .in: false
      }
    }
  }

  package var path: FieldPath
  package var op: Operator
  /// The operand: an array for `in`, `not-in` and `array-contains-any`; a reference if `path` is `__name__`.
  package var value: Value

  package init(_ path: FieldPath, _ op: Operator, _ value: Value) {
    self.path = path
    self.op = op
    self.value = value
  }
}

extension Filter {
  /// The disjunctive normal form: alternatives, each a list of conditions that all must hold. `in` and
  /// `array-contains-any` count as one alternative per element. The list stops growing beyond a thousand alternatives.
  package var disjunctions: [[FieldFilter]] {
    switch self {
    case .field(let filter):
      switch filter.op {
      case .in: filter.value.elements.map { [FieldFilter(filter.path, .equal, $0)] }
      case .arrayContainsAny: filter.value.elements.map { [FieldFilter(filter.path, .arrayContains, $0)] }
      default: [[filter]]
      }
    case .or(let filters): filters.flatMap(\.disjunctions)
    case .and(let filters):
      filters.reduce([[]]) { product, filter in
        let alternatives = filter.disjunctions
        return Array(product.lazy.flatMap { conjunction in alternatives.lazy.map { conjunction + $0 } }.prefix(1001))
      }
    }
  }
}

extension Value {
  /// The type's name in messages.
  package var typeName: String {
    switch self {
    case .null: "null"
    case .boolean: "boolean"
    case .integer: "integer"
    case .double: "double"
    case .timestamp: "timestamp"
    case .serverTimestamp: "pending server timestamp"
    case .string: "string"
    case .bytes: "bytes value"
    case .reference: "reference"
    case .geoPoint: "geo point"
    case .array: "array"
    case .vector: "vector"
    case .map: "map"
    }
  }
}

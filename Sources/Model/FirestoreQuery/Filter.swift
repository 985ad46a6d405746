// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A condition on a document.
package indirect enum Filter: Hashable, Sendable {
  case field(FieldFilter)
  case and([Filter])
  case or([Filter])

  /// All conditions on single fields, in the order in which they are written.
  package var fieldFilters: [FieldFilter] {
    switch self {
    case .field(let filter): [filter]
    case .and(let filters), .or(let filters): filters.flatMap(\.fieldFilters)
    }
  }
}

/// A condition on one field.
package struct FieldFilter: Hashable, Sendable {
  package enum Operator: String, Hashable, Sendable, CaseIterable {
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
  /// The disjunctive normal form: a list of alternatives, each of which is a list of conditions that must all be met.
  /// Each element of `in` and `array-contains-any` becomes a separate alternative. The list stops growing at about a
  /// thousand alternatives.
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
  /// The name of the value's type for messages.
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

/// The rules for comparing values. They differ between the client and the backend.
package enum ComparisonRules: Sendable {
  /// The client SDKs' rules. For `in`, `array-contains` and similar operators, the integer 1 does not equal the double
  /// 1.0, and NaN equals NaN (VALUE-ORDER "Order is not equality"). Numeric ids in references are compared as text.
  case client
  /// The backend's rules. For `in`, `array-contains` and similar operators, numbers are compared by value, and null and
  /// NaN in a list match nothing (PROTOCOL §3.7). Numeric ids in references come first and are ordered by number.
  case backend

  /// Determines how numeric ids in reference values are ordered.
  package var numericIDs: NumericIDOrder { self == .client ? .asText : .byNumber }

  fileprivate func holds(_ stored: Value, _ wanted: Value) -> Bool {
    switch self {
    case .client: stored == wanted
    case .backend: wanted != .null && wanted != .double(.nan) && stored.equalsNumerically(wanted)
    }
  }

  fileprivate func contains(_ wanted: [Value], _ stored: Value) -> Bool { wanted.contains { holds(stored, $0) } }
}

extension Filter {
  func matches(_ fields: StoredFields, of key: DocumentKey, _ rules: ComparisonRules) -> Bool {
    switch self {
    case .field(let filter): filter.matches(fields, of: key, rules)
    case .and(let filters): filters.allSatisfy { $0.matches(fields, of: key, rules) }
    case .or(let filters): filters.contains { $0.matches(fields, of: key, rules) }
    }
  }
}

extension FieldFilter {
  /// Whether the fields satisfy the filter. The operators `!=` and `not-in` also match values of other types, but never
  /// null or a missing field. All other operators match only values of the same type. Ranges never match NaN, although
  /// NaN sorts below all numbers in the total order (PROTOCOL §3.7).
  func matches(_ fields: StoredFields, of key: DocumentKey, _ rules: ComparisonRules) -> Bool {
    if path.isDocumentID { return matches(key) }
    guard let stored = fields.find(path) else { return false }
    switch op {
    case .equal: return stored.typeRank == value.typeRank && isSatisfied(by: stored.compare(value, rules.numericIDs))
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      return stored.typeRank == value.typeRank && isSatisfied(by: stored.compare(value, rules.numericIDs))
        && !stored.isNaN
    case .notEqual: return !stored.isNull && isSatisfied(by: stored.compare(value, rules.numericIDs))
    case .arrayContains:
      return stored.decoded.elements.contains { rules.holds($0, value) }
    case .arrayContainsAny:
      let wanted = value.elements
      return stored.decoded.elements.contains { rules.contains(wanted, $0) }
    case .in: return rules.contains(value.elements, stored.decoded)
    case .notIn:
      let unwanted = value.elements
      return !stored.isNull && !unwanted.contains(.null) && !rules.contains(unwanted, stored.decoded)
    }
  }

  /// Whether the key satisfies a filter on `__name__`. The database of the filter's reference is ignored.
  private func matches(_ key: DocumentKey) -> Bool {
    switch op {
    case .in, .arrayContainsAny: return value.elements.contains { $0.referencedKey == key }
    case .notIn: return !value.elements.contains { $0.referencedKey == key }
    case .arrayContains: return false
    default:
      guard let other = value.referencedKey else { return false }
      return isSatisfied(by: key.path.compare(other.path))
    }
  }

  /// Whether the result of comparing two values satisfies the operator.
  /// - Parameter ordering: the order of the stored value relative to the filter's value; `nil` if the stored value
  ///   cannot be read.
  private func isSatisfied(by ordering: Ordering?) -> Bool {
    guard let ordering else { return false }
    return switch op {
    case .lessThan: ordering == .ascending
    case .lessThanOrEqual: ordering != .descending
    case .equal: ordering == .equal
    case .notEqual: ordering != .equal
    case .greaterThan: ordering == .descending
    case .greaterThanOrEqual: ordering != .ascending
    case .arrayContains, .arrayContainsAny, .in, .notIn: false
    }
  }
}

extension Value {
  /// The elements of an array; empty for a value of another type.
  var elements: [Value] {
    if case .array(let values) = self { values } else { [] }
  }

  var referencedKey: DocumentKey? {
    if case .reference(_, let key) = self { key } else { nil }
  }
}

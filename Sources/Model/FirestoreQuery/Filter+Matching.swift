// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The equality of values for `in`, `array-contains` and similar operators.
package enum ElementEquality: Sendable {
  /// The client's equality: integer 1 is not double 1.0, and NaN is NaN (VALUE-ORDER "Order is not equality").
  case strict
  /// The backend's equality: numbers by value, and null and NaN in a list match nothing (PROTOCOL §3.7).
  case numeric

  fileprivate func holds(_ stored: Value, _ wanted: Value) -> Bool {
    switch self {
    case .strict: stored == wanted
    case .numeric: wanted != .null && wanted != .double(.nan) && stored.equalsNumerically(wanted)
    }
  }

  fileprivate func contains(_ wanted: [Value], _ stored: Value) -> Bool { wanted.contains { holds(stored, $0) } }
}

extension Filter {
  func matches(_ fields: StoredFields, of key: DocumentKey, _ equality: ElementEquality) -> Bool {
    switch self {
    case .field(let filter): filter.matches(fields, of: key, equality)
    case .and(let filters): filters.allSatisfy { $0.matches(fields, of: key, equality) }
    case .or(let filters): filters.contains { $0.matches(fields, of: key, equality) }
    }
  }
}

extension FieldFilter {
  /// Whether the fields satisfy the filter. `!=` and `not-in` match across types but never null or a missing field; the
  /// others match only values of their own type. Ranges never match NaN, though it is below all numbers in the total
  /// order (PROTOCOL §3.7).
  func matches(_ fields: StoredFields, of key: DocumentKey, _ equality: ElementEquality) -> Bool {
    if path.isDocumentID { return matches(key) }
    guard let stored = fields.find(path) else { return false }
    switch op {
    case .equal: return stored.typeRank == value.typeRank && isSatisfied(by: stored.compare(value))
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      return stored.typeRank == value.typeRank && isSatisfied(by: stored.compare(value)) && !stored.isNaN
    case .notEqual: return !stored.isNull && isSatisfied(by: stored.compare(value))
    case .arrayContains:
      return stored.decoded.elements.contains { equality.holds($0, value) }
    case .arrayContainsAny:
      let wanted = value.elements
      return stored.decoded.elements.contains { equality.contains(wanted, $0) }
    case .in: return equality.contains(value.elements, stored.decoded)
    case .notIn:
      let unwanted = value.elements
      return !stored.isNull && !unwanted.contains(.null) && !equality.contains(unwanted, stored.decoded)
    }
  }

  /// Whether the key satisfies a filter on `__name__`; the reference's database does not matter.
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

  /// Whether an ordering satisfies the operator.
  /// - Parameter ordering: of the stored value relative to the filter's; `nil` if the stored one cannot be read.
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
  /// The elements of an array; none for other types.
  var elements: [Value] {
    if case .array(let values) = self { values } else { [] }
  }

  var referencedKey: DocumentKey? {
    if case .reference(_, let key) = self { key } else { nil }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension Filter {
  /// Disjunctive normal form: alternatives, each a list of conditions that all must hold. `in` and
  /// `array-contains-any` count as one alternative per element. Stops growing beyond a thousand alternatives.
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

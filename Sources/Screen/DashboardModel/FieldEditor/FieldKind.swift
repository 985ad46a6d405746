// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A kind of content that a field can be given: a value of a type, a value that the server computes, or none.
package enum FieldKind: CaseIterable, Hashable, Sendable {
  case string, integer, double, boolean, null, timestamp, map, array, reference, geoPoint, bytes, vector
  case serverTimestamp, increment, maximum, minimum, arrayUnion, arrayRemove
  case delete

  package init(_ value: Value) {
    self =
      switch value {
      case .null: .null
      case .boolean: .boolean
      case .integer: .integer
      case .double: .double
      case .timestamp: .timestamp
      case .serverTimestamp: .serverTimestamp
      case .string: .string
      case .bytes: .bytes
      case .reference: .reference
      case .geoPoint: .geoPoint
      case .array: .array
      case .vector: .vector
      case .map: .map
      }
  }

  package init(_ operation: FieldTransform.Operation) {
    self =
      switch operation {
      case .serverTimestamp: .serverTimestamp
      case .increment: .increment
      case .minimum: .minimum
      case .maximum: .maximum
      case .arrayUnion: .arrayUnion
      case .arrayRemove: .arrayRemove
      }
  }

  package var title: String {
    switch self {
    case .string: "string"
    case .integer: "integer"
    case .double: "double"
    case .boolean: "boolean"
    case .null: "null"
    case .timestamp: "timestamp"
    case .map: "map"
    case .array: "array"
    case .reference: "reference"
    case .geoPoint: "geo point"
    case .bytes: "bytes"
    case .vector: "vector"
    case .serverTimestamp: "server time"
    case .increment: "increment"
    case .maximum: "maximum"
    case .minimum: "minimum"
    case .arrayUnion: "array union"
    case .arrayRemove: "array remove"
    case .delete: "no field"
    }
  }

  /// The name for columns of width four.
  package var short: String {
    switch self {
    case .string: "str"
    case .integer: "int"
    case .double: "dbl"
    case .boolean: "bool"
    case .null: "null"
    case .timestamp: "time"
    case .map: "map"
    case .array: "arr"
    case .reference: "ref"
    case .geoPoint: "geo"
    case .bytes: "byte"
    case .vector: "vec"
    case .serverTimestamp: "now"
    case .increment: "incr"
    case .maximum: "max"
    case .minimum: "min"
    case .arrayUnion: "unio"
    case .arrayRemove: "remo"
    case .delete: "none"
    }
  }

  /// The letter of the key that chooses the kind.
  package var letter: Character {
    switch self {
    case .string: "s"
    case .integer: "i"
    case .double: "d"
    case .boolean: "b"
    case .null: "n"
    case .timestamp: "t"
    case .map: "m"
    case .array: "a"
    case .reference: "r"
    case .geoPoint: "g"
    case .bytes: "y"
    case .vector: "v"
    case .serverTimestamp: "T"
    case .increment: "+"
    case .maximum: ">"
    case .minimum: "<"
    case .arrayUnion: "A"
    case .arrayRemove: "R"
    case .delete: "x"
    }
  }

  /// An example of the text, or the effect of a kind that takes none.
  package var example: String {
    switch self {
    case .string: "any text"
    case .integer: "42"
    case .double: "18.5, -0.0, NaN, inf, -inf"
    case .boolean: "true or false"
    case .null: "no value, but a field"
    case .timestamp: "2026-03-02T11:58:03.120Z"
    case .map: "{\"city\": \"Delft\"}"
    case .array: "[1, \"two\"]"
    case .reference: "users/ada"
    case .geoPoint: "52.37, 4.89"
    case .bytes: "aGVhcnRo (base64) or hex:00ff"
    case .vector: "[0.5, 1.0]"
    case .serverTimestamp: "when the server applies the write"
    case .increment: "by 1, or -0.5"
    case .maximum: "the larger of it and 10"
    case .minimum: "the smaller of it and 10"
    case .arrayUnion: "[\"a\"] is added where it is not in"
    case .arrayRemove: "[\"a\"] is taken out"
    case .delete: "the field is deleted"
    }
  }

  /// Whether the kind is given by a text.
  var takesText: Bool {
    switch self {
    case .null, .serverTimestamp, .delete: false
    default: true
    }
  }

  /// Whether the server computes the value from its present one.
  package var isTransform: Bool {
    switch self {
    case .serverTimestamp, .increment, .maximum, .minimum, .arrayUnion, .arrayRemove: true
    default: false
    }
  }

  /// The next or previous type of a value; from a kind that is no type, the first one.
  func neighbour(_ step: Int) -> FieldKind {
    let types = Self.allCases.filter { !$0.isTransform && $0 != .delete }
    guard let index = types.firstIndex(of: self) else { return .string }
    return types[(index + step + types.count) % types.count]
  }
}

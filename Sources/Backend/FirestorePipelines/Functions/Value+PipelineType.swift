// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension Value {
  /// The name of the value's type, as returned by `type()`.
  var pipelineType: String {
    switch self {
    case .null: "null"
    case .boolean: "boolean"
    case .integer: "int64"
    case .double: "float64"
    case .timestamp, .serverTimestamp: "timestamp"
    case .string: "string"
    case .bytes: "bytes"
    case .reference: "reference"
    case .geoPoint: "geo_point"
    case .array: "array"
    case .vector: "vector"
    case .map: bsonType ?? "map"
    }
  }

  static let pipelineTypes: Set<String> = [
    "null", "boolean", "int32", "int64", "float64", "decimal128", "number", "timestamp", "string", "bytes", "reference",
    "geo_point", "array", "vector", "map", "min_key", "max_key", "object_id", "regex", "request_timestamp",
  ]
  static let numberTypes: Set<String> = ["int32", "int64", "float64", "decimal128"]
}

/// A number as an integer or a double, for arithmetic.
enum Number {
  case integer(Int64)
  case double(Double)

  init?(_ value: Value) {
    switch value.orderedNumber {
    case .integer(let number)?: self = .integer(number)
    case .double(let number)?: self = .double(number)
    default: return nil
    }
  }

  init(_ value: Value, of function: String) throws(EvaluationError) {
    guard let number = Number(value) else { throw .type(function, "numbers", value) }
    self = number
  }

  var double: Double {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    }
  }

  var value: Value {
    switch self {
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    }
  }
}

/// Function arguments by type.
extension Value {
  func integer(of function: String) throws(EvaluationError) -> Int64 {
    switch Number(self) {
    case .integer(let value)?: return value
    case .double(let value)?:
      if let exact = Int64(exactly: value) { return exact }
    case nil: break
    }
    throw .type(function, "an integer", self)
  }

  func text(of function: String) throws(EvaluationError) -> String {
    guard case .string(let text) = self else { throw .type(function, "a string", self) }
    return text
  }

  func elements(of function: String) throws(EvaluationError) -> [Value] {
    guard case .array(let elements) = self else { throw .type(function, "an array", self) }
    return elements
  }

  func fields(of function: String) throws(EvaluationError) -> Fields {
    guard case .map(let fields) = self else { throw .type(function, "a map", self) }
    return fields
  }

  func time(of function: String) throws(EvaluationError) -> Timestamp {
    guard case .timestamp(let time) = self else { throw .type(function, "a timestamp", self) }
    guard time.isValid else { throw EvaluationError(time.objection) }
    return time
  }

  func vector(of function: String) throws(EvaluationError) -> [Double] {
    guard case .vector(let elements) = self else { throw .type(function, "a vector", self) }
    return elements
  }
}

/// A value for grouping documents. Numbers of equal value are in one group.
struct GroupKey: Hashable {
  private let value: Value?

  init(_ value: Value?) { self.value = value.map(Self.normalized) }

  private static func normalized(_ value: Value) -> Value {
    if let number = value.orderedNumber {
      guard case .double(let double) = number else { return number }
      return Int64(exactly: double).map { .integer($0) } ?? number
    }
    switch value {
    case .array(let elements): return .array(elements.map(normalized))
    case .map(let fields):
      return .map(Fields(sorted: fields.entries.map { ($0.name, normalized($0.value)) }))
    case .vector(let elements): return .vector(elements.map { $0 == 0 ? 0 : $0 })
    case .geoPoint(var point):
      if point.latitude == 0 { point.latitude = 0 }
      if point.longitude == 0 { point.longitude = 0 }
      return .geoPoint(point)
    default: return value
    }
  }
}

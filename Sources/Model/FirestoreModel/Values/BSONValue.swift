// SPDX-License-Identifier: Apache-2.0

/// A value of a BSON type, which newer clients write as a map with one entry of a reserved name. This package treats it
/// as that map, except that it has its own place in the total order (firebase-js-sdk, `TypeOrder`).
enum BSONValue {
  case minimumKey
  case timestamp(seconds: Int64, increment: Int64)
  case binary([UInt8])
  case objectID(String)
  case regularExpression(pattern: String, options: String)
  case maximumKey
  /// A 32-bit integer, or a decimal as the nearest double.
  case number(Value)

  init?(_ fields: Fields) {
    guard fields.count == 1, fields.entries[0].name.utf8.starts(with: "__".utf8) else { return nil }
    let (name, value) = fields.entries[0]
    switch (name, value) {
    case ("__min__", .null): self = .minimumKey
    case ("__max__", .null): self = .maximumKey
    case ("__int__", .integer): self = .number(value)
    case ("__decimal128__", .string(let text)): self = .number(.double(Double(text) ?? .nan))
    case ("__oid__", .string(let text)): self = .objectID(text)
    case ("__binary__", .bytes(let bytes)): self = .binary(bytes)
    case ("__request_timestamp__", .map(let parts)):
      guard case .integer(let seconds)? = parts["seconds"], case .integer(let increment)? = parts["increment"] else {
        return nil
      }
      self = .timestamp(seconds: seconds, increment: increment)
    case ("__regex__", .map(let parts)):
      guard case .string(let pattern)? = parts["pattern"], case .string(let options)? = parts["options"] else {
        return nil
      }
      self = .regularExpression(pattern: pattern, options: options)
    default: return nil
    }
  }

  /// The rank in the total order, on the scale of `Value.typeRank`, between or equal to the other ranks.
  var typeRank: Int {
    switch self {
    case .minimumKey: 1
    case .number: 4
    case .timestamp: 7
    case .binary: 13
    case .objectID: 15
    case .regularExpression: 17
    case .maximumKey: 23
    }
  }

  /// The values that order two values of one type, the most significant first.
  var parts: [Value] {
    switch self {
    case .minimumKey, .maximumKey: []
    case .number(let number): [number]
    case .timestamp(let seconds, let increment): [.integer(seconds), .integer(increment)]
    case .binary(let bytes): [.bytes(bytes)]
    case .objectID(let text): [.string(text)]
    case .regularExpression(let pattern, let options): [.string(pattern), .string(options)]
    }
  }
}

extension Value {
  var bson: BSONValue? { if case .map(let fields) = self { BSONValue(fields) } else { nil } }

  /// The name of the BSON type in pipelines; `nil` for a value of another type.
  package var bsonType: String? {
    switch bson {
    case .minimumKey?: "min_key"
    case .maximumKey?: "max_key"
    case .number(.integer)?: "int32"
    case .number?: "decimal128"
    case .timestamp?: "request_timestamp"
    case .binary?: "bytes"
    case .objectID?: "object_id"
    case .regularExpression?: "regex"
    case nil: nil
    }
  }

  /// The number by which the value is ordered, also for a BSON type; `nil` for other types.
  package var orderedNumber: Value? {
    switch self {
    case .integer, .double: self
    default: if case .number(let number)? = bson { number } else { nil }
    }
  }
}

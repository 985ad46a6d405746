// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation

/// Converts Swift values to Firestore values. Rejects `FieldValue` placeholders, because `WriteData` removes them from
/// writes beforehand. Error messages contain the field and the type, but never the value.
enum ValueEncoder {
  /// Encodes a filter operand or cursor value.
  static func plain(_ value: Any) throws(FirestoreError) -> Value {
    try self.value(value, at: [])
  }

  /// Encodes an operand of `arrayUnion` or `arrayRemove`.
  static func element(_ value: Any) -> Result<Value, FirestoreError> {
    Result { () throws(FirestoreError) in try self.value(value, at: [], in: .array) }
  }

  /// The kind of container that a value is in.
  enum Surroundings { case map, array }

  /// Encodes a value.
  /// - Parameter path: the path of the field, for error messages.
  static func value(
    _ any: Any, at path: [String], in surroundings: Surroundings = .map
  ) throws(FirestoreError) -> Value {
    if any is FieldValue {
      throw .invalidArgument(
        "FieldValue can only be used in the maps of a write, not in arrays or queries\(place(path)).")
    }
    if let scalar = try scalar(any, at: path) { return scalar }
    if let array = any as? [Any] {
      if surroundings == .array { throw .invalidArgument("Nested arrays are not supported\(place(path)).") }
      var values: [Value] = []
      for element in array { values.append(try value(element, at: path, in: .array)) }
      return .array(values)
    }
    if let map = any as? [String: Any] {
      var fields = Fields()
      for (name, any) in map {
        try check(name, at: path + [name])
        fields[name] = try value(any, at: path + [name])
      }
      return .map(fields)
    }
    throw .invalidArgument("Type \(type(of: any)) is not supported by Firestore\(place(path)).")
  }

  static func scalar(_ any: Any, at path: [String]) throws(FirestoreError) -> Value? {
    // `as NSNumber` would convert Swift's own numbers and Booleans, so the exact type is compared.
    if type(of: any) is NSNumber.Type, let number = any as? NSNumber { return self.number(number) }
    switch any {
    case is NSNull: return .null
    case let optional as any OptionalValue where optional.isNone: return .null
    case let value as Bool: return .boolean(value)
    case let value as any BinaryInteger: return .integer(try integer(value, at: path))
    case let value as any BinaryFloatingPoint: return .double(Double(value))
    case let value as String: return .string(value)
    case let value as Substring: return .string(String(value))
    case let value as Data: return .bytes([UInt8](value))
    case let value as Date: return .timestamp(try timestamp(Timestamp(date: value), at: path))
    case let value as Timestamp: return .timestamp(try timestamp(value, at: path))
    case let value as GeoPoint:
      guard value.isInRange else {
        throw .invalidArgument("A GeoPoint's latitude must be -90…90 and its longitude -180…180\(place(path)).")
      }
      return .geoPoint(FirestoreModel.GeoPoint(latitude: value.latitude, longitude: value.longitude))
    case let value as VectorValue: return .vector(value.array)
    case let value as DocumentReference: return .reference(value.firestore.database, try value.key.get())
    default: return nil
    }
  }

  private static func integer(_ value: some BinaryInteger, at path: [String]) throws(FirestoreError) -> Int64 {
    guard let integer = Int64(exactly: value) else {
      throw .invalidArgument("An integer does not fit into 64 signed bits\(place(path)).")
    }
    return integer
  }

  /// Converts a number whose Swift type is unknown, such as a result of `JSONSerialization`. An `NSNumber` encodes
  /// Booleans and `Int8` in the same way. Therefore 0 and 1 in this encoding become Booleans.
  private static func number(_ number: NSNumber) -> Value {
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "f"), UInt8(ascii: "d"): .double(number.doubleValue)
    case UInt8(ascii: "B"): .boolean(number.boolValue)
    case UInt8(ascii: "c") where (0...1).contains(number.int64Value): .boolean(number.boolValue)
    default: .integer(number.int64Value)
    }
  }

  private static func timestamp(
    _ timestamp: Timestamp, at path: [String]
  ) throws(FirestoreError) -> FirestoreModel.Timestamp {
    guard timestamp.isInRange else {
      throw .invalidArgument("A Timestamp must be in the years 1 to 9999\(place(path)).")
    }
    return timestamp.model
  }

  /// Checks a field name. Firestore reserves names of the form `__…__`, and an empty name cannot be addressed.
  static func check(_ name: String, at path: [String]) throws(FirestoreError) {
    if name.isEmpty { throw .invalidArgument("Field names must not be empty\(place(Array(path.dropLast()))).") }
    if name.utf8.count >= 4, name.hasPrefix("__"), name.hasSuffix("__") {
      throw .invalidArgument("Field names must not begin and end with \"__\"\(place(path)).")
    }
  }

  /// The text ` (found in field a.b)`, or an empty string if the value is not in a document.
  static func place(_ path: [String]) -> String {
    path.isEmpty ? "" : " (found in field \(path.joined(separator: ".")))"
  }
}

/// Detects a `nil` inside an `Any`.
private protocol OptionalValue {
  var isNone: Bool { get }
}

extension Optional: OptionalValue {
  var isNone: Bool { self == nil }
}

/// Converts Firestore values to Swift values.
///
/// As on Apple platforms, numbers become `NSNumber`. Therefore `as? Int`, `as? Int64` and `as? Double` work for both of
/// Firestore's number types.
struct ValueDecoder {
  var firestore: Firestore
  var behavior: ServerTimestampBehavior

  func dictionary(_ fields: Fields) -> [String: Any] {
    var dictionary: [String: Any] = [:]
    dictionary.reserveCapacity(fields.count)
    for entry in fields.entries { dictionary[entry.name] = any(entry.value) }
    return dictionary
  }

  func any(_ value: Value) -> Any {
    switch value {
    case .null: NSNull()
    case .boolean(let value): value
    case .integer(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .timestamp(let value): Timestamp(value)
    case .serverTimestamp(let pending): any(settled(pending))
    case .string(let value): value
    case .bytes(let value): Data(value)
    case .reference(let database, let key): reference(database, key)
    case .geoPoint(let value): GeoPoint(latitude: value.latitude, longitude: value.longitude)
    case .array(let values): values.map(any)
    case .vector(let values): VectorValue(values)
    case .map(let fields): dictionary(fields)
    }
  }

  /// The value to use for a server timestamp that the backend has not set yet.
  func settled(_ pending: FirestoreModel.ServerTimestamp) -> Value {
    switch behavior {
    case .none: .null
    case .estimate: .timestamp(pending.localWriteTime)
    case .previous: pending.previous ?? .null
    }
  }

  /// Converts a reference. A reference to another database keeps its path, but cannot be used with this database.
  private func reference(_ database: DatabaseID, _ key: DocumentKey) -> Any {
    if database == firestore.database { return DocumentReference(firestore: firestore, key: .success(key)) }
    return DocumentReference(
      firestore: firestore,
      key: .failure(.invalidArgument("\(database.name(of: key)) is in another database.")))
  }
}

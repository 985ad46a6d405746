// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Foundation
import SwiftProtobuf

extension Value {
  /// - Throws: `invalid-argument` for a value without a type, a reference that names no document, impossible
  ///   nanoseconds, and the kinds that exist in pipelines only.
  package init(_ message: Wire.Value) throws(ModelError) {
    switch message.valueType {
    case .nullValue: self = .null
    case .booleanValue(let value): self = .boolean(value)
    case .integerValue(let value): self = .integer(value)
    case .doubleValue(let value): self = .double(value)
    case .timestampValue(let value): self = .timestamp(try Timestamp(value))
    case .stringValue(let value): self = .string(value)
    case .bytesValue(let value): self = .bytes([UInt8](value))
    case .referenceValue(let name):
      guard let value = Value(referenceName: name) else {
        throw ModelError("The reference \"\(name)\" is not the name of a document.")
      }
      self = value
    case .geoPointValue(let point):
      self = .geoPoint(GeoPoint(latitude: point.latitude, longitude: point.longitude))
    case .arrayValue(let array): self = .array(try [Value](array))
    case .mapValue(let map): self = Value(map: try Fields(map.fields))
    case .fieldReferenceValue, .functionValue, .pipelineValue, .variableReferenceValue:
      throw ModelError("A value is of a kind that exists in pipelines only.")
    case nil: throw ModelError("A value has no type.")
    }
  }

  package var message: Wire.Value {
    var message = Wire.Value()
    message.valueType = oneof
    return message
  }

  private var oneof: Wire.Value.OneOf_ValueType {
    switch self {
    case .null: .nullValue(.nullValue)
    case .boolean(let value): .booleanValue(value)
    case .integer(let value): .integerValue(value)
    case .double(let value): .doubleValue(value)
    case .timestamp(let value): .timestampValue(value.message)
    case .string(let value): .stringValue(value)
    case .bytes(let value): .bytesValue(Data(value))
    case .reference(let database, let key): .referenceValue(database.name(of: key))
    case .geoPoint(let point): .geoPointValue(.with { ($0.latitude, $0.longitude) = (point.latitude, point.longitude) })
    case .array(let values): .arrayValue(values.message)
    case .map(let fields): .mapValue(.with { $0.fields = fields.message })
    case .vector, .serverTimestamp:
      // Both are maps on the wire; the model's writer knows how they are spelled.
      .mapValue(rewritten)
    }
  }

  private var rewritten: Wire.MapValue {
    var writer = WireWriter()
    writer.value(self)
    // Bytes that were just written are well formed.
    let message = try? Wire.Value(serializedBytes: writer.bytes)
    return message?.mapValue ?? Wire.MapValue()
  }
}

extension [Value] {
  package init(_ message: Wire.ArrayValue) throws(ModelError) {
    self = try message.values.map { value throws(ModelError) in try Value(value) }
  }

  package var message: Wire.ArrayValue { .with { $0.values = map(\.message) } }
}

extension Fields {
  /// - Parameter message: in any order; the last of several entries with one name wins.
  package init(_ message: [Wire.FieldEntry]) throws(ModelError) {
    self.init(try message.map { entry throws(ModelError) in (entry.name, try Value(entry.value)) })
  }

  package var message: [Wire.FieldEntry] {
    entries.map { entry in .with { ($0.name, $0.value) = (entry.name, entry.value.message) } }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Foundation
import SwiftProtobuf

extension Value {
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
    case .vector(let elements):
      .mapValue(
        .with { map in
          map.fields = [
            .with { ($0.name, $0.value) = ("__type__", Value.string("__vector__").message) },
            .with { ($0.name, $0.value) = ("value", Value.array(elements.map { .double($0) }).message) },
          ]
        })
    case .serverTimestamp: preconditionFailure("the time that a server will set is never sent")
    }
  }
}

extension [Value] {
  package var message: Wire.ArrayValue { .with { $0.values = map(\.message) } }
}

extension Fields {
  package var message: [Wire.FieldEntry] {
    entries.map { entry in .with { ($0.name, $0.value) = (entry.name, entry.value.message) } }
  }
}

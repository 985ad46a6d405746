// SPDX-License-Identifier: Apache-2.0

/// The schema of a message, taken from its proto file. It contains everything that the JSON codec needs.
package final class MessageSchema: Sendable {
  /// The full name of the message, including the package: `google.firestore.v1.Document`.
  package let name: String
  /// The fields, in the order of their numbers.
  package let fields: [FieldSchema]
  /// The error for a JSON message without any fields; `nil` if such a message is valid.
  package let emptiness: String?
  private let indexes: [String: Int]

  package init(_ name: String, _ fields: [FieldSchema], emptiness: String? = nil) {
    self.name = name
    self.fields = fields
    self.emptiness = emptiness
    var indexes: [String: Int] = [:]
    for (index, field) in fields.enumerated() {
      indexes[field.name] = index
      indexes[field.jsonName] = index
    }
    self.indexes = indexes
  }

  /// - Parameter name: the field's name in JSON or in the proto file. Proto3 JSON accepts both.
  package func field(named name: String) -> FieldSchema? { indexes[name].map { fields[$0] } }
}

package struct FieldSchema: Sendable {
  package indirect enum Kind: Sendable {
    case boolean
    case int32
    case int64
    case double
    case string
    case bytes
    /// The enumeration google.protobuf.NullValue.
    case null
    case enumeration(EnumSchema)
    /// A message. Its schema is computed on demand, because messages can contain each other.
    case message(@Sendable () -> MessageSchema)
    case timestamp
    case duration
    /// A google.protobuf.Struct.
    case structure
    /// A message whose only field has the number 1 and this kind. In JSON, the value of this field represents the
    /// message.
    case wrapper(Kind)
  }

  package enum Count: Sendable {
    case one
    case list
    /// A map. Its entries have a string as key (field 1) and a value (field 2).
    case map
  }

  package let number: Int
  /// The field's name in the proto file, such as `field_paths`. Error messages use this name.
  package let name: String
  /// The field's name in JSON, such as `fieldPaths`.
  package let jsonName: String
  package let kind: Kind
  package let count: Count
  /// The `oneof` group to which the field belongs; `nil` if none. At most one field of a group may be set.
  package let oneof: String?

  package init(_ number: Int, _ name: String, _ kind: Kind, _ count: Count = .one, oneof: String? = nil) {
    self.number = number
    self.name = name
    self.kind = kind
    self.count = count
    self.oneof = oneof
    let words = name.split(separator: "_")
    jsonName = words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }
}

package struct EnumSchema: Sendable {
  package let name: String
  package let cases: [String: Int32]

  package init(_ name: String, _ cases: [String: Int32]) {
    self.name = name
    self.cases = cases
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The reason why a document cannot be exported, or why a record is not a document.
package struct EntityFault: Error, Hashable, Sendable {
  package var reason: String
  package init(_ reason: String) { self.reason = reason }
}

/// Writes documents as the records of exports.
package struct EntityWriter: Sendable {
  private let database: DatabaseID

  /// - Parameter database: the database of the documents.
  package init(_ database: DatabaseID) { self.database = database }

  /// - Throws: `EntityFault` for values that documents cannot have and that the format cannot represent.
  package func record(_ key: DocumentKey, _ fields: Fields) throws(EntityFault) -> [UInt8] {
    if let reason = Self.objection(to: fields) { throw EntityFault("\(key.path) cannot be exported: \(reason)") }
    let elements = PathElement.all(of: key)
    let bytes = WireWriter.message { writer in
      writer.field(EntityField.key) { writer in
        writer.field(KeyField.project, string: ApplicationName.of(project: database.project))
        writer.field(KeyField.path) { writer in for element in elements { writer.element(element, .ofKey) } }
        writer.databaseName(database)
      }
      writer.properties(fields)
      writer.field(EntityField.root) { $0.element(elements[0], .ofKey) }
    }
    if bytes.count > RecordFraming.recordLimit {
      throw EntityFault(
        "\(key.path) cannot be exported: its record would be longer than \(RecordFraming.recordLimit) bytes.")
    }
    return bytes
  }

  private static func objection(to fields: Fields) -> String? {
    for (name, value) in fields.entries {
      if let reason = objection(to: value) { return "in the field \"\(name.prefix(100))\" \(reason)" }
    }
    return nil
  }

  private static func objection(to value: Value) -> String? {
    switch value {
    case .map(let fields): return objection(to: fields)
    case .array(let values):
      for value in values {
        switch value {
        case .array: return "an array contains an array."
        case .vector: return "an array contains a vector."
        default: if let reason = objection(to: value) { return reason }
        }
      }
      return nil
    case .vector(let elements): return elements.isEmpty ? "a vector is empty." : nil
    case .serverTimestamp: return "a server timestamp has no value yet."
    default: return nil
    }
  }
}

/// An element of a path: a collection and a document in it.
struct PathElement {
  var collection: Substring
  var id: Substring

  static func all(of key: DocumentKey) -> [PathElement] {
    let segments = key.path.segments
    return stride(from: 0, to: segments.count - 1, by: 2).map {
      PathElement(collection: segments[$0], id: segments[$0 + 1])
    }
  }

  /// The number of a numeric id, `__id7__`; `nil` for a string id.
  var number: Int64? {
    guard id.utf8.starts(with: "__id".utf8), id.utf8.count > 6, let number = Int64(id.dropFirst(4).dropLast(2)),
      number != 0, Self.id(of: number).utf8.elementsEqual(id.utf8)
    else { return nil }
    return number
  }

  static func id(of number: Int64) -> String { "__id\(number)__" }
}

extension WireWriter {
  fileprivate mutating func group(_ number: Int, _ write: (inout WireWriter) -> Void) {
    tag(number, .startGroup)
    write(&self)
    tag(number, .endGroup)
  }

  fileprivate mutating func element(_ element: PathElement, _ fields: PathElementFields) {
    group(fields.group) { writer in
      writer.field(fields.collection, bytes: element.collection.utf8)
      if let number = element.number {
        writer.field(fields.number, integer: number)
      } else {
        writer.field(fields.id, bytes: element.id.utf8)
      }
    }
  }

  fileprivate mutating func databaseName(_ database: DatabaseID) {
    if database.database != defaultDatabase { field(KeyField.database, string: database.database) }
  }

  fileprivate mutating func properties(_ fields: Fields) {
    for (name, value) in fields.entries {
      switch value {
      case .array(let values) where values.isEmpty: property(name, .emptyArray, isRepeated: false) { _ in }
      case .array(let values): for value in values { property(name, value, isRepeated: true) }
      case .vector(let elements):
        for element in elements {
          property(name, .vectorElement, isRepeated: true) { $0.field(EntityValueField.double, double: element) }
        }
      default: property(name, value, isRepeated: false)
      }
    }
  }

  private mutating func property(
    _ name: String, _ meaning: Meaning?, isRepeated: Bool, _ value: (inout WireWriter) -> Void
  ) {
    field(meaning == .emptyArray ? EntityField.property : EntityField.unindexedProperty) { writer in
      if let meaning { writer.field(PropertyField.meaning, varint: meaning.rawValue) }
      writer.field(PropertyField.name, string: name)
      writer.field(PropertyField.isRepeated, boolean: isRepeated)
      writer.field(PropertyField.value, value)
    }
  }

  /// - Parameter value: a value other than an array or vector.
  private mutating func property(_ name: String, _ value: Value, isRepeated: Bool) {
    property(name, Meaning(of: value), isRepeated: isRepeated) { $0.entityValue(value) }
  }

  private mutating func entityValue(_ value: Value) {
    switch value {
    case .null: break
    case .boolean(let value): field(EntityValueField.boolean, boolean: value)
    case .integer(let value): field(EntityValueField.integer, integer: value)
    case .double(let value): field(EntityValueField.double, double: value)
    case .timestamp(let time): field(EntityValueField.integer, integer: time.microseconds)
    case .string(let text): field(EntityValueField.text, string: text)
    case .bytes(let bytes): field(EntityValueField.text, bytes: bytes)
    case .geoPoint(let point):
      group(EntityValueField.point) { writer in
        writer.field(6, double: point.latitude)
        writer.field(7, double: point.longitude)
      }
    case .reference(let database, let key):
      group(EntityValueField.reference) { writer in
        writer.field(KeyField.project, string: ApplicationName.of(project: database.project))
        for element in PathElement.all(of: key) { writer.element(element, .ofReference) }
        writer.databaseName(database)
      }
    case .map(let fields):
      field(EntityValueField.text) { writer in
        // The key and the root are required, but have no content.
        writer.field(EntityField.key) { writer in
          writer.field(KeyField.project, string: "")
          writer.field(KeyField.path) { _ in }
        }
        writer.properties(fields)
        writer.field(EntityField.root) { _ in }
      }
    case .array, .vector, .serverTimestamp: break
    }
  }
}

extension Meaning {
  /// - Returns: `nil` for a value that needs no meaning.
  fileprivate init?(of value: Value) {
    switch value {
    case .timestamp: self = .timestamp
    case .geoPoint: self = .geoPoint
    case .bytes: self = .bytes
    case .map: self = .map
    default: return nil
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A document in an export.
package struct ExportedDocument: Sendable {
  package var database: DatabaseID
  package var key: DocumentKey
  package var fields: Fields

  package init(database: DatabaseID, key: DocumentKey, fields: Fields) {
    (self.database, self.key, self.fields) = (database, key, fields)
  }
}

/// Reads documents from the records of exports.
package struct EntityReader {
  /// The maximum depth, the same as for the wire format of documents.
  private static let maximumDepth = 64

  /// A property. Its value is decoded once its meaning is known.
  fileprivate struct Property {
    var name = ""
    var isRepeated = false
    var meaning: UInt64 = 0
    var value: WireReader?
  }

  /// The number of values so far. It is limited to the maximum size of a document in bytes, because each value uses at
  /// least one byte.
  private var count = 0

  private init() {}

  /// - Throws: `EntityFault` for bytes that are not a document. Violations of Firestore's limits are not detected.
  package static func document(_ record: [UInt8]) throws(EntityFault) -> ExportedDocument {
    do throws(WireError) {
      return try WireReader.read(record) { reader throws(WireError) in
        var entity = EntityReader()
        return try entity.document(&reader)
      }
    } catch {
      throw EntityFault("This is not a document: \(error.reason).")
    }
  }

  private mutating func document(_ reader: inout WireReader) throws(WireError) -> ExportedDocument {
    var key: (DatabaseID, DocumentKey)?
    var properties: [Property] = []
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (EntityField.key, .lengthDelimited):
        var message = try reader.message()
        key = try message.entityKey()
      case (EntityField.property, .lengthDelimited), (EntityField.unindexedProperty, .lengthDelimited):
        var message = try reader.message()
        properties.append(try property(&message))
      default: try reader.skipField(tag)
      }
    }
    guard let (database, key) = key else { throw WireError("it has no key") }
    return ExportedDocument(database: database, key: key, fields: try fields(properties, depth: 0))
  }

  private mutating func property(_ reader: inout WireReader) throws(WireError) -> Property {
    count += 1
    guard count <= WriteLimit.documentBytes else { throw WireError("it has more values than a document can have") }
    var property = Property()
    var hasName = false
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (PropertyField.meaning, .varint): property.meaning = try reader.varint()
      case (PropertyField.name, .lengthDelimited):
        property.name = try reader.string()
        hasName = true
      case (PropertyField.isRepeated, .varint): property.isRepeated = try reader.boolean()
      case (PropertyField.value, .lengthDelimited): property.value = try reader.message()
      default: try reader.skipField(tag)
      }
    }
    guard hasName, property.value != nil else { throw WireError("a property has no name or no value") }
    return property
  }

  /// Reads the fields. Properties with the same name are the elements of an array or a vector.
  private mutating func fields(_ properties: [Property], depth: Int) throws(WireError) -> Fields {
    var properties = properties
    let isSorted = properties.indices.dropFirst().allSatisfy {
      properties[$0 - 1].name.compareUTF8(properties[$0].name) != .descending
    }
    // The sort is stable, so the elements of an array remain in order.
    if !isSorted { properties.sort { $0.name.compareUTF8($1.name) == .ascending } }
    var entries: [Fields.Entry] = []
    var start = 0
    while start < properties.count {
      let name = properties[start].name
      var end = start + 1
      while end < properties.count, properties[end].name.equalsUTF8(name) { end += 1 }
      entries.append((name, try value(properties[start..<end], depth: depth)))
      start = end
    }
    return Fields(sorted: entries)
  }

  private mutating func value(_ properties: ArraySlice<Property>, depth: Int) throws(WireError) -> Value {
    let first = properties[properties.startIndex]
    let isRepeated = first.isRepeated
    guard properties.count == 1 || properties.allSatisfy(\.isRepeated) else {
      throw WireError("the property \"\(first.name.prefix(100))\" is repeated")
    }
    if first.meaning == Meaning.emptyArray.rawValue, properties.count == 1 { return .array([]) }
    if first.meaning == Meaning.vectorElement.rawValue {
      var elements: [Double] = []
      elements.reserveCapacity(properties.count)
      for property in properties {
        guard property.meaning == first.meaning, case .double(let element) = try value(property, depth: depth) else {
          throw WireError("an element of the vector \"\(first.name.prefix(100))\" is not a double")
        }
        elements.append(element)
      }
      return .vector(elements)
    }
    if !isRepeated { return try value(first, depth: depth) }
    var elements: [Value] = []
    elements.reserveCapacity(properties.count)
    for property in properties { elements.append(try value(property, depth: depth + 1)) }
    return .array(elements)
  }

  private mutating func value(_ property: Property, depth: Int) throws(WireError) -> Value {
    guard var reader = property.value else { return .null }
    var result: Value?
    while let tag = try reader.tag() {
      let value: Value
      switch (tag.field, tag.type) {
      case (EntityValueField.integer, .varint):
        let number = try reader.integer()
        let isTime = property.meaning == Meaning.timestamp.rawValue
        value = isTime ? .timestamp(Timestamp(microseconds: number)) : .integer(number)
      case (EntityValueField.boolean, .varint): value = .boolean(try reader.boolean())
      case (EntityValueField.double, .fixed64): value = .double(try reader.double())
      case (EntityValueField.text, .lengthDelimited): value = try text(&reader, property.meaning, depth)
      case (EntityValueField.point, .startGroup): value = .geoPoint(try reader.point())
      case (EntityValueField.reference, .startGroup):
        guard let (database, key) = try reader.reference() else { throw WireError("a reference has no document") }
        value = .reference(database, key)
      case (EntityValueField.user, .startGroup): throw WireError("Firestore has no values of type user")
      default:
        try reader.skipField(tag)
        continue
      }
      if result != nil { throw WireError("a property has two values") }
      result = value
    }
    return result ?? .null
  }

  /// Reads a string, bytes or a map, which are all encoded as bytes.
  private mutating func text(
    _ reader: inout WireReader, _ meaning: UInt64, _ depth: Int
  ) throws(WireError) -> Value {
    switch Meaning(rawValue: meaning) {
    case .bytes, .shortBytes: return .bytes(try reader.byteArray())
    case .map:
      guard depth < Self.maximumDepth else {
        throw WireError("values are nested more than \(Self.maximumDepth) levels deep")
      }
      var message = try reader.message()
      var properties: [Property] = []
      while let tag = try message.tag() {
        switch (tag.field, tag.type) {
        case (EntityField.property, .lengthDelimited), (EntityField.unindexedProperty, .lengthDelimited):
          var inner = try message.message()
          properties.append(try property(&inner))
        default: try message.skipField(tag)
        }
      }
      return Value(map: try fields(properties, depth: depth + 1))
    default: return .string(try reader.string())
    }
  }
}

extension WireReader {
  private static let maximumGroups = 16

  /// Skips a field, or a group to its end.
  mutating func skipField(_ tag: (field: Int, type: WireType), depth: Int = 0) throws(WireError) {
    guard tag.type == .startGroup else {
      if tag.type == .endGroup { throw WireError("a group ends without a beginning") }
      return try skip(tag.type)
    }
    guard depth < Self.maximumGroups else {
      throw WireError("groups are nested more than \(Self.maximumGroups) levels deep")
    }
    while let inner = try nextField(inGroup: tag.field) { try skipField(inner, depth: depth + 1) }
  }

  /// - Returns: the next field of a group; `nil` at its end.
  private mutating func nextField(inGroup number: Int) throws(WireError) -> (field: Int, type: WireType)? {
    guard let tag = try tag() else { throw WireError("a group has no end") }
    if tag.type != .endGroup { return tag }
    guard tag.field == number else { throw WireError("a group ends without a beginning") }
    return nil
  }

  /// Reads the name of the document from an entity's key.
  mutating func entityKey() throws(WireError) -> (DatabaseID, DocumentKey)? {
    var parts = KeyParts()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (KeyField.path, .lengthDelimited):
        var path = try message()
        while let tag = try path.tag() {
          if tag.field == PathElementFields.ofKey.group, tag.type == .startGroup {
            try path.element(.ofKey, into: &parts)
          } else {
            try path.skipField(tag)
          }
        }
      default: try keyField(tag, &parts)
      }
    }
    return try parts.names()
  }

  /// Reads the rest of a reference's group.
  mutating func reference() throws(WireError) -> (DatabaseID, DocumentKey)? {
    var parts = KeyParts()
    while let tag = try nextField(inGroup: EntityValueField.reference) {
      if tag.field == PathElementFields.ofReference.group, tag.type == .startGroup {
        try element(.ofReference, into: &parts)
      } else {
        try keyField(tag, &parts)
      }
    }
    return try parts.names()
  }

  /// Reads the rest of a point's group.
  mutating func point() throws(WireError) -> GeoPoint {
    var point = GeoPoint(latitude: 0, longitude: 0)
    while let tag = try nextField(inGroup: EntityValueField.point) {
      switch (tag.field, tag.type) {
      case (6, .fixed64): point.latitude = try double()
      case (7, .fixed64): point.longitude = try double()
      default: try skipField(tag)
      }
    }
    return point
  }

  private mutating func keyField(_ tag: (field: Int, type: WireType), _ parts: inout KeyParts) throws(WireError) {
    switch (tag.field, tag.type) {
    case (KeyField.project, .lengthDelimited): parts.project = ApplicationName.project(of: try string())
    case (KeyField.database, .lengthDelimited): parts.database = try string()
    case (KeyField.namespace, .lengthDelimited):
      let namespace = try string()
      if !namespace.isEmpty {
        throw WireError(
          "it is in the namespace \"\(namespace.prefix(100))\", which only databases in Datastore mode have")
      }
    default: try skipField(tag)
    }
  }

  private mutating func element(_ fields: PathElementFields, into parts: inout KeyParts) throws(WireError) {
    var collection: String?
    var id: String?
    while let tag = try nextField(inGroup: fields.group) {
      switch (tag.field, tag.type) {
      case (fields.collection, .lengthDelimited): collection = try string()
      case (fields.id, .lengthDelimited): id = try string()
      case (fields.number, .varint): id = PathElement.id(of: try integer())
      default: try skipField(tag)
      }
    }
    guard let collection, let id else { throw WireError("a key has a part without a collection or an id") }
    parts.segments += [collection, id]
    guard parts.segments.count <= 2 * ResourcePath.collectionDepthLimit else {
      throw WireError("a key is deeper than \(ResourcePath.collectionDepthLimit) collections")
    }
  }
}

/// The parts of a key that have been read so far.
private struct KeyParts {
  var project = ""
  var database = ""
  var segments: [String] = []

  /// - Returns: `nil` for a key without a path.
  func names() throws(WireError) -> (DatabaseID, DocumentKey)? {
    if segments.isEmpty { return nil }
    if project.isEmpty { throw WireError("a key has no project") }
    if (project + database).utf8.contains(UInt8(ascii: "/")) { throw WireError("a key has no valid database") }
    for (index, segment) in segments.enumerated() {
      if let reason = ResourcePath.objection(to: segment, isCollectionID: index.isMultiple(of: 2)) {
        throw WireError("a key is not a path: \(reason.dropLast())")
      }
    }
    let id = DatabaseID(project: project, database: database.isEmpty ? defaultDatabase : database)
    return (id, DocumentKey(unchecked: ResourcePath(segments: segments)))
  }
}

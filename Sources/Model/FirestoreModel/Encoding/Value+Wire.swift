// SPDX-License-Identifier: Apache-2.0

/// The keys that identify maps that represent other types.
enum TypedMap {
  static let type = "__type__"
  static let vector = "__vector__"
  static let vectorElements = "value"
  static let serverTimestamp = "server_timestamp"
  static let localWriteTime = "__local_write_time__"
  static let previousValue = "__previous_value__"
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.Value`. Map entries are sorted by name.
  package mutating func value(_ value: Value) {
    switch value {
    case .null: field(11, varint: 0)
    case .boolean(let value): field(1, boolean: value)
    case .integer(let value): field(2, integer: value)
    case .double(let value): field(3, double: Double(bitPattern: value.identityBits))
    case .timestamp(let value): field(10, timestamp: value)
    case .string(let value): field(17, string: value)
    case .bytes(let value): field(18, bytes: value)
    case .reference(let database, let key): field(5, string: database.name(of: key))
    case .geoPoint(let value):
      field(8) { writer in
        if value.latitude.bitPattern != 0 { writer.field(1, double: Double(bitPattern: value.latitude.identityBits)) }
        if value.longitude.bitPattern != 0 { writer.field(2, double: Double(bitPattern: value.longitude.identityBits)) }
      }
    case .array(let values): field(9) { writer in for value in values { writer.field(1) { $0.value(value) } } }
    case .map(let fields): field(6) { $0.entries(1, fields) }
    case .vector(let values):
      let elements = Value.array(values.map { .double($0) })
      field(6) { $0.entries(1, [TypedMap.type: .string(TypedMap.vector), TypedMap.vectorElements: elements]) }
    case .serverTimestamp(let value):
      var fields: Fields = [
        TypedMap.type: .string(TypedMap.serverTimestamp), TypedMap.localWriteTime: .timestamp(value.localWriteTime),
      ]
      fields[TypedMap.previousValue] = value.previous
      field(6) { $0.entries(1, fields) }
    }
  }

  /// Writes map entries as repeated fields with this number. This is the protobuf encoding of `map<string, Value>`.
  package mutating func entries(_ number: Int, _ fields: Fields) {
    for entry in fields.entries { self.entry(number, entry.name, entry.value) }
  }

  /// Writes one map entry.
  mutating func entry(_ number: Int, _ name: String, _ value: Value) {
    field(number) { writer in
      writer.field(1, string: name)
      writer.field(2) { $0.value(value) }
    }
  }
}

extension WireReader {
  /// The maximum nesting depth to read. It is above the backend's limit of 20, and prevents malicious bytes from
  /// overflowing the stack.
  static let maximumDepth = 64

  /// Reads the content of a `google.firestore.v1.Value`.
  package mutating func value(depth: Int = 0) throws(WireError) -> Value {
    guard depth <= Self.maximumDepth else {
      throw WireError("values are nested more than \(Self.maximumDepth) levels deep")
    }
    var result: Value?
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (11, .varint):
        _ = try varint()
        result = .null
      case (1, .varint): result = .boolean(try boolean())
      case (2, .varint): result = .integer(try integer())
      case (3, .fixed64): result = .double(try double())
      case (10, .lengthDelimited): result = .timestamp(try timestamp())
      case (17, .lengthDelimited): result = .string(try string())
      case (18, .lengthDelimited): result = .bytes(try byteArray())
      case (5, .lengthDelimited): result = try reference()
      case (8, .lengthDelimited): result = try geoPoint()
      case (9, .lengthDelimited): result = try array(depth: depth)
      case (6, .lengthDelimited): result = try map(depth: depth)
      default: try skip(tag.type)
      }
    }
    guard let result else { throw .untypedValue }
    return result
  }

  /// Reads the content of a map entry.
  package mutating func entry(depth: Int) throws(WireError) -> Fields.Entry {
    var name = ""
    var value: Value?
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): name = try string()
      case (2, .lengthDelimited):
        var reader = try message()
        value = try reader.value(depth: depth)
      default: try skip(tag.type)
      }
    }
    guard let value else { throw .untypedValue }
    return (name, value)
  }

  private mutating func reference() throws(WireError) -> Value {
    let name = try string()
    guard let value = Value(referenceName: name) else {
      throw WireError("\"\(name)\" is not the name of a document", referenceName: name)
    }
    return value
  }

  private mutating func geoPoint() throws(WireError) -> Value {
    var reader = try message()
    var point = GeoPoint(latitude: 0, longitude: 0)
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .fixed64): point.latitude = try reader.double()
      case (2, .fixed64): point.longitude = try reader.double()
      default: try reader.skip(tag.type)
      }
    }
    return .geoPoint(point)
  }

  private mutating func array(depth: Int) throws(WireError) -> Value {
    var reader = try message()
    var values: [Value] = []
    while let tag = try reader.tag() {
      guard tag.field == 1, tag.type == .lengthDelimited else {
        try reader.skip(tag.type)
        continue
      }
      var element = try reader.message()
      values.append(try element.value(depth: depth + 1))
    }
    return .array(values)
  }

  private mutating func map(depth: Int) throws(WireError) -> Value {
    var reader = try message()
    return Value(map: try reader.fields(1, depth: depth + 1))
  }

  /// Reads all map entries with this field number, in any order.
  package mutating func fields(_ number: Int, depth: Int = 0) throws(WireError) -> Fields {
    var entries: [Fields.Entry] = []
    while let tag = try tag() {
      guard tag.field == number, tag.type == .lengthDelimited else {
        try skip(tag.type)
        continue
      }
      var reader = try message()
      entries.append(try reader.entry(depth: depth))
    }
    return Fields(unsorted: entries)
  }
}

extension Value {
  /// Creates the value that a map represents: the map itself, a vector, or an unresolved server timestamp.
  package init(map fields: Fields) {
    // Returns early for most maps. In a map that represents another type, the first name begins with an underscore.
    guard let first = fields.entries.first, first.name.utf8.first == UInt8(ascii: "_") else {
      self = .map(fields)
      return
    }
    if case .string(let type)? = fields[TypedMap.type] {
      if type == TypedMap.vector, case .array(let values)? = fields[TypedMap.vectorElements] {
        let elements = values.compactMap { if case .double(let value) = $0 { value } else { nil } }
        if elements.count == values.count && fields.count == 2 {
          self = .vector(elements)
          return
        }
      } else if type == TypedMap.serverTimestamp, case .timestamp(let time)? = fields[TypedMap.localWriteTime] {
        self = .serverTimestamp(ServerTimestamp(localWriteTime: time, previous: fields[TypedMap.previousValue]))
        return
      }
    }
    self = .map(fields)
  }

  /// Creates a reference from the full name of a document. Fails for any other text.
  /// - Parameter referenceName: a name of the form `projects/P/databases/D/documents/…`.
  package init?(referenceName: String) {
    let parts = referenceName.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 5, omittingEmptySubsequences: false)
      .map { Substring($0) }
    guard parts.count == 6, parts[0] == "projects", parts[2] == "databases", parts[4] == "documents",
      !parts[1].isEmpty, !parts[3].isEmpty, let key = DocumentKey(String(parts[5]))
    else { return nil }
    self = .reference(DatabaseID(project: String(parts[1]), database: String(parts[3])), key)
  }
}

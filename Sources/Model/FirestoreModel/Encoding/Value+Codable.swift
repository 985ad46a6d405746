// SPDX-License-Identifier: Apache-2.0

// Values in the form of Firestore's REST interface, `{"integerValue": 42}`, exactly: the decoded value equals the
// encoded one in every bit that the total order or strict equality distinguishes.

/// A name that is data.
private struct Name: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension Value: Codable {
  private enum CodingKeys: String, CodingKey {
    case null = "nullValue"
    case boolean = "booleanValue"
    case integer = "integerValue"
    case double = "doubleValue"
    case timestamp = "timestampValue"
    case serverTimestamp
    case string = "stringValue"
    case bytes = "bytesValue"
    case reference = "referenceValue"
    case geoPoint = "geoPointValue"
    case array = "arrayValue"
    case vector = "vectorValue"
    case map = "mapValue"
  }

  private enum ReferenceKeys: CodingKey { case database, key }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .null: try container.encodeNil(forKey: .null)
    case .boolean(let flag): try container.encode(flag, forKey: .boolean)
    case .integer(let number): try container.encode(number, forKey: .integer)
    case .double(let number): try container.encode(ExactDouble(number), forKey: .double)
    case .timestamp(let time): try container.encode(time, forKey: .timestamp)
    case .serverTimestamp(let time): try container.encode(time, forKey: .serverTimestamp)
    case .string(let text): try container.encode(text, forKey: .string)
    case .bytes(let bytes): try container.encode(Hexadecimal.text(bytes), forKey: .bytes)
    case .reference(let database, let key):
      var reference = container.nestedContainer(keyedBy: ReferenceKeys.self, forKey: .reference)
      try reference.encode(database, forKey: .database)
      try reference.encode(key, forKey: .key)
    case .geoPoint(let point): try container.encode(point, forKey: .geoPoint)
    case .array(let values): try container.encode(values, forKey: .array)
    case .vector(let elements): try container.encode(elements.map(ExactDouble.init), forKey: .vector)
    case .map(let fields): try container.encode(fields, forKey: .map)
    }
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard let key = container.allKeys.first, container.allKeys.count == 1 else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "a value names its one type"))
    }
    switch key {
    case .null: self = .null
    case .boolean: self = .boolean(try container.decode(Bool.self, forKey: key))
    case .integer: self = .integer(try container.decode(Int64.self, forKey: key))
    case .double: self = .double(try container.decode(ExactDouble.self, forKey: key).number)
    case .timestamp: self = .timestamp(try container.decode(Timestamp.self, forKey: key))
    case .serverTimestamp: self = .serverTimestamp(try container.decode(ServerTimestamp.self, forKey: key))
    case .string: self = .string(try container.decode(String.self, forKey: key))
    case .bytes:
      guard let bytes = Hexadecimal.bytes(try container.decode(String.self, forKey: key)) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: "bytes are hexadecimal digits")
      }
      self = .bytes(bytes)
    case .reference:
      let reference = try container.nestedContainer(keyedBy: ReferenceKeys.self, forKey: key)
      self = .reference(
        try reference.decode(DatabaseID.self, forKey: .database), try reference.decode(DocumentKey.self, forKey: .key))
    case .geoPoint: self = .geoPoint(try container.decode(GeoPoint.self, forKey: key))
    case .array: self = .array(try container.decode([Value].self, forKey: key))
    case .vector: self = .vector(try container.decode([ExactDouble].self, forKey: key).map(\.number))
    case .map: self = .map(try container.decode(Fields.self, forKey: key))
    }
  }
}

/// A double of which no bit is lost: text for a number that JSON cannot write, and for negative zero.
private struct ExactDouble: Codable {
  let number: Double

  init(_ number: Double) { self.number = number }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if number.isFinite, number != 0 || number.sign == .plus {
      try container.encode(number)
    } else {
      try container.encode(number.isNaN ? "NaN" : "\(number)")
    }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // Anything but a number is read as a text, whose error is thrown.
    if let number = try? container.decode(Double.self) {
      self.number = number
    } else if let number = Double(try container.decode(String.self)) {
      self.number = number
    } else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a number")
    }
  }
}

extension GeoPoint: Codable {
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(ExactDouble(latitude))
    try container.encode(ExactDouble(longitude))
  }

  package init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    self.init(
      latitude: try container.decode(ExactDouble.self).number,
      longitude: try container.decode(ExactDouble.self).number)
  }
}

/// An object, or a list of names and values if a name is not ASCII, since names that look alike differ here.
extension Fields: Codable {
  package func encode(to encoder: any Encoder) throws {
    if entries.allSatisfy({ $0.name.utf8.allSatisfy { $0 < 0x80 } }) {
      var container = encoder.container(keyedBy: Name.self)
      for entry in entries { try container.encode(entry.value, forKey: Name(entry.name)) }
    } else {
      var container = encoder.unkeyedContainer()
      for entry in entries {
        try container.encode(entry.name)
        try container.encode(entry.value)
      }
    }
  }

  package init(from decoder: any Decoder) throws {
    // Anything but an object is read as a list, whose error is thrown.
    if let container = try? decoder.container(keyedBy: Name.self) {
      self.init(try container.allKeys.map { ($0.stringValue, try container.decode(Value.self, forKey: $0)) })
      return
    }
    var container = try decoder.unkeyedContainer()
    var entries: [Entry] = []
    while !container.isAtEnd { entries.append((try container.decode(String.self), try container.decode(Value.self))) }
    self.init(entries)
  }
}

extension DocumentData: Codable {
  package func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
  package init(from decoder: any Decoder) throws { self.init(try Fields(from: decoder)) }
}

// Names and times are encoded as one text or number each.

extension ResourcePath: Codable {
  package func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
  package init(from decoder: any Decoder) throws { self.init(try String(from: decoder)) }
}

extension DocumentKey: Codable {
  package func encode(to encoder: any Encoder) throws { try path.encode(to: encoder) }

  package init(from decoder: any Decoder) throws {
    guard let key = DocumentKey(try ResourcePath(from: decoder)) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not the path of a document"))
    }
    self = key
  }
}

extension FieldPath: Codable {
  package func encode(to encoder: any Encoder) throws { try segments.encode(to: encoder) }

  package init(from decoder: any Decoder) throws {
    let segments = try [String](from: decoder)
    if segments.isEmpty {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "an empty field path"))
    }
    self.init(segments: segments)
  }
}

extension BatchID: Codable {
  package func encode(to encoder: any Encoder) throws { try rawValue.encode(to: encoder) }
  package init(from decoder: any Decoder) throws { self.init(try Int64(from: decoder)) }
}

extension SnapshotVersion: Codable {
  package func encode(to encoder: any Encoder) throws { try timestamp.encode(to: encoder) }
  package init(from decoder: any Decoder) throws { self.init(try Timestamp(from: decoder)) }
}

/// RFC 3339; seconds and nanoseconds for a time that Firestore does not know.
extension Timestamp: Codable {
  package func encode(to encoder: any Encoder) throws {
    if isValid { return try rfc3339Text.encode(to: encoder) }
    var container = encoder.unkeyedContainer()
    try container.encode(seconds)
    try container.encode(nanoseconds)
  }

  package init(from decoder: any Decoder) throws {
    // Anything but a text is read as two numbers, whose error is thrown.
    if let text = try? String(from: decoder) {
      guard let time = Timestamp(rfc3339: text) else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "\"\(text)\" is no time"))
      }
      self = time
      return
    }
    var container = try decoder.unkeyedContainer()
    self.init(seconds: try container.decode(Int64.self), nanoseconds: try container.decode(Int32.self))
  }
}

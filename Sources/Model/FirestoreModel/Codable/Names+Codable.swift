// SPDX-License-Identifier: Apache-2.0

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

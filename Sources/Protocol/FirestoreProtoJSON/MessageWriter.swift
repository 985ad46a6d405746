// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel

/// Writes a message, given as wire bytes, as proto3 JSON. Only fields that are set are written, in the order of their
/// numbers.
package struct MessageWriter {
  /// The content of a field on the wire.
  private enum Content {
    case number(UInt64)
    case bytes(UnsafeRawBufferPointer)
  }

  private var syntax: JSONText

  /// - Parameters:
  ///   - message: the wire bytes of the message. Fields that are not in the schema are omitted.
  ///   - isPretty: whether to write several lines, as Google's servers do.
  package static func text(of message: [UInt8], _ schema: MessageSchema, isPretty: Bool) throws(WireError) -> [UInt8] {
    let result: Result<[UInt8], WireError> = message.withUnsafeBytes { bytes in
      var writer = MessageWriter(syntax: JSONText(isPretty: isPretty))
      do throws(WireError) {
        try writer.message(bytes, schema)
        return .success(writer.syntax.bytes)
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  private mutating func message(_ bytes: UnsafeRawBufferPointer, _ schema: MessageSchema) throws(WireError) {
    let contents = try Self.contents(of: bytes)
    syntax.open("{")
    for field in schema.fields {
      var isFirst = true
      for (number, content) in contents where number == field.number {
        switch field.count {
        case .one:
          // The service sends a field only once, so only its first content is written.
          guard isFirst else { continue }
          syntax.name(field.jsonName)
          try single(content, field.kind)
        case .list:
          if isFirst {
            syntax.name(field.jsonName)
            syntax.open("[")
          }
          try element(content, field.kind)
        case .map:
          if isFirst {
            syntax.name(field.jsonName)
            syntax.open("{")
          }
          try entry(content, field.kind)
        }
        isFirst = false
      }
      if !isFirst {
        switch field.count {
        case .one: break
        case .list: syntax.close("]")
        case .map: syntax.close("}")
        }
      }
    }
    syntax.close("}")
  }

  /// Writes an element of a list. Several numbers can be packed into one field on the wire (Protocol Buffers, "Packed
  /// repeated fields").
  private mutating func element(_ content: Content, _ kind: FieldSchema.Kind) throws(WireError) {
    if case .int32 = kind, case .bytes(let bytes) = content {
      var reader = WireReader(bytes)
      while !reader.isAtEnd {
        syntax.element()
        try single(.number(try reader.varint()), kind)
      }
    } else {
      syntax.element()
      try single(content, kind)
    }
  }

  private mutating func entry(_ content: Content, _ kind: FieldSchema.Kind) throws(WireError) {
    var (key, value): (Content?, Content?) = (nil, nil)
    for (number, content) in try Self.contents(of: try Self.bytes(content)) {
      if number == 1 { key = content } else if number == 2 { value = content }
    }
    syntax.name(try key.map { key throws(WireError) in try Self.text(key) } ?? "")
    try single(value ?? .bytes(UnsafeRawBufferPointer(start: nil, count: 0)), kind)
  }

  private mutating func single(_ content: Content, _ kind: FieldSchema.Kind) throws(WireError) {
    switch kind {
    case .boolean: syntax.raw(try Self.number(content) == 0 ? "false" : "true")
    case .int32: syntax.raw(String(Int32(truncatingIfNeeded: try Self.number(content))))
    case .int64: syntax.string(String(Int64(bitPattern: try Self.number(content))))
    case .double: syntax.double(Double(bitPattern: try Self.number(content)))
    case .string: syntax.string(try Self.text(content))
    case .bytes: syntax.string(Base64.encode(Array(try Self.bytes(content))))
    case .null: syntax.raw("null")
    case .enumeration(let schema):
      let number = Int32(truncatingIfNeeded: try Self.number(content))
      if let name = schema.cases.first(where: { $0.value == number })?.key {
        syntax.string(name)
      } else {
        syntax.raw(String(number))
      }
    case .message(let schema): try message(try Self.bytes(content), schema())
    case .timestamp: syntax.string(try Self.time(content).rfc3339Text)
    case .duration:
      let time = try Self.time(content)
      // The fraction follows the 19 characters of a timestamp's date and time.
      let fraction = time.rfc3339Text.dropFirst(19).dropLast()
      syntax.string("\(time.seconds)\(fraction)s")
    case .structure: try structure(content)
    case .wrapper(let kind):
      let value = try Self.contents(of: try Self.bytes(content)).last { $0.field == 1 }
      try single(value?.content ?? .number(0), kind)
    }
  }

  // MARK: google.protobuf.Struct

  private mutating func structure(_ content: Content) throws(WireError) {
    syntax.open("{")
    for (_, entry) in try Self.contents(of: try Self.bytes(content)) {
      var (key, value): (String, Content?) = ("", nil)
      for (number, content) in try Self.contents(of: try Self.bytes(entry)) {
        if number == 1 { key = try Self.text(content) } else { value = content }
      }
      syntax.name(key)
      try structureValue(value)
    }
    syntax.close("}")
  }

  private mutating func structureValue(_ content: Content?) throws(WireError) {
    guard let content, let (number, value) = try Self.contents(of: try Self.bytes(content)).last else {
      return syntax.raw("null")
    }
    switch number {
    case 2: syntax.double(Double(bitPattern: try Self.number(value)))
    case 3: syntax.string(try Self.text(value))
    case 4: syntax.raw(try Self.number(value) == 0 ? "false" : "true")
    case 5: try structure(value)
    case 6:
      syntax.open("[")
      for (_, element) in try Self.contents(of: try Self.bytes(value)) {
        syntax.element()
        try structureValue(element)
      }
      syntax.close("]")
    default: syntax.raw("null")
    }
  }

  // MARK: The wire

  private static func contents(
    of bytes: UnsafeRawBufferPointer
  ) throws(WireError) -> [(field: Int, content: Content)] {
    var reader = WireReader(bytes)
    var contents: [(field: Int, content: Content)] = []
    while let tag = try reader.tag() {
      switch tag.type {
      case .varint: contents.append((tag.field, .number(try reader.varint())))
      case .fixed64: contents.append((tag.field, .number(try reader.fixed64())))
      case .lengthDelimited: contents.append((tag.field, .bytes(try reader.lengthDelimited())))
      case .fixed32, .startGroup, .endGroup: try reader.skip(tag.type)
      }
    }
    return contents
  }

  private static func number(_ content: Content) throws(WireError) -> UInt64 {
    guard case .number(let number) = content else { throw WireError("a number has another type") }
    return number
  }

  private static func bytes(_ content: Content) throws(WireError) -> UnsafeRawBufferPointer {
    guard case .bytes(let bytes) = content else {
      throw WireError("a field does not have the type that its message declares")
    }
    return bytes
  }

  private static func text(_ content: Content) throws(WireError) -> String {
    String(decoding: try bytes(content), as: UTF8.self)
  }

  private static func time(_ content: Content) throws(WireError) -> Timestamp {
    var time = Timestamp(seconds: 0)
    for (number, content) in try contents(of: try bytes(content)) {
      if number == 1 { time.seconds = Int64(bitPattern: try self.number(content)) }
      if number == 2 { time.nanoseconds = Int32(truncatingIfNeeded: try self.number(content)) }
    }
    return time
  }
}

/// Writes JSON piece by piece, either on one line or with a separate line for each member and element.
package struct JSONText {
  package private(set) var bytes: [UInt8] = []
  private let isPretty: Bool
  private var depth = 0
  /// Whether the open object or array is still empty.
  private var isEmpty = true

  package init(isPretty: Bool) { self.isPretty = isPretty }

  package mutating func open(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    depth += 1
    isEmpty = true
  }

  package mutating func close(_ bracket: Unicode.Scalar) {
    depth -= 1
    if !isEmpty { newLine() }
    bytes.append(UInt8(ascii: bracket))
    isEmpty = false
  }

  /// Starts an element of an array.
  package mutating func element() {
    if !isEmpty { bytes.append(UInt8(ascii: ",")) }
    isEmpty = false
    newLine()
  }

  /// Starts a member of an object.
  package mutating func name(_ name: String) {
    element()
    string(name)
    raw(isPretty ? ": " : ":")
  }

  package mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Writes a number. NaN and infinities are written as text.
  package mutating func double(_ value: Double) {
    if value.isNaN { return string("NaN") }
    if value.isInfinite { return string(value < 0 ? "-Infinity" : "Infinity") }
    let text = value.description
    raw(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  package mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): raw("\\\"")
      case UInt8(ascii: "\\"): raw("\\\\")
      case 0x0A: raw("\\n")
      case 0x0D: raw("\\r")
      case 0x09: raw("\\t")
      // Angle brackets are escaped too, since a browser that showed the response as a page would treat them as markup.
      case 0..<0x20, 0x7F, UInt8(ascii: "<"), UInt8(ascii: ">"):
        raw(byte < 0x10 ? "\\u000" : "\\u00")
        raw(String(byte, radix: 16))
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func newLine() {
    guard isPretty else { return }
    bytes.append(0x0A)
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }
}

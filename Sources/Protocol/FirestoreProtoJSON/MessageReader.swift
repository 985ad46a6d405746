// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel

/// Reads a message from proto3 JSON and writes it as wire bytes. Errors have the same texts as the errors of Google's
/// servers. They contain the path of the field, with the names that the proto file uses.
package struct MessageReader {
  private enum Step {
    case field(String)
    case index(Int)
  }

  /// The formats that are accepted in addition to standard proto3 JSON.
  package enum Dialect {
    case strict
    /// Scalars may also be written as text, as in the query of a URL.
    case texts
    /// Wrappers and times may also be written as messages with fields. The web SDKs of 2018 and 2019 send them in this
    /// form.
    case spelledOut
    /// Unknown members are ignored, because newer programs may write them. The formats of `spelledOut` are also
    /// accepted.
    case lenient
  }

  private var trail: [Step]
  private let dialect: Dialect
  private var isText: Bool { dialect == .texts }

  /// - Parameter root: the field of the request that contains the JSON; `nil` if the JSON is the whole request.
  private init(root: String?, _ dialect: Dialect) {
    trail = root.map { [.field($0)] } ?? []
    self.dialect = dialect
  }

  /// - Throws: `invalid-argument`.
  package static func bytes(
    of json: JSONSyntax, _ schema: MessageSchema, root: String? = nil, _ dialect: Dialect = .strict
  ) throws(RPCStatus) -> [UInt8] {
    var reader = MessageReader(root: root, dialect)
    return try reader.message(json, schema)
  }

  private mutating func message(_ json: JSONSyntax, _ schema: MessageSchema) throws(RPCStatus) -> [UInt8] {
    guard case .object(let members) = json.kind else { throw invalid(json, "type.googleapis.com/\(schema.name)") }
    var writer = WireWriter()
    var taken: Set<String> = []
    for member in members {
      guard let field = schema.field(named: member.name) else {
        // An unknown member of a value is an error: without it, the value would look unset.
        if dialect == .lenient, schema !== Schema.value { continue }
        throw unknown(member.name)
      }
      if case .null = member.value.kind {
        // Null means that the field is not set, unless the field's type contains null.
        guard case .null = field.kind else { continue }
      }
      if let oneof = field.oneof, !taken.insert(oneof).inserted {
        throw .invalid(
          "Invalid value at '\(path)' (oneof), oneof field '\(oneof)' is already set. Cannot set '\(member.name)'")
      }
      trail.append(.field(field.name))
      try self.field(member.value, field, into: &writer)
      trail.removeLast()
    }
    if let emptiness = schema.emptiness, taken.isEmpty { throw .invalid(emptiness) }
    return writer.bytes
  }

  private mutating func field(
    _ json: JSONSyntax, _ field: FieldSchema, into writer: inout WireWriter
  ) throws(RPCStatus) {
    switch (field.count, json.kind) {
    case (.map, .object(let members)):
      for (index, member) in members.enumerated() {
        trail += [.index(index), .field("value")]
        var entry = WireWriter()
        entry.field(1, string: member.name)
        try single(member.value, field.kind, 2, into: &entry)
        trail.removeLast(2)
        writer.field(field.number, bytes: entry.bytes)
      }
    case (.map, _): throw invalid(json, "Map")
    case (.list, .array(let elements)):
      for (index, element) in elements.enumerated() {
        trail.append(.index(index))
        try single(element, field.kind, field.number, into: &writer)
        trail.removeLast()
      }
    case (.one, .array):
      trail.removeLast()
      throw unknown(field.name, "Proto field is not repeating, cannot start list.")
    // Google's servers accept a single element in place of a list.
    case (.list, _), (.one, _): try single(json, field.kind, field.number, into: &writer)
    }
  }

  private mutating func single(
    _ json: JSONSyntax, _ kind: FieldSchema.Kind, _ number: Int, into writer: inout WireWriter
  ) throws(RPCStatus) {
    switch kind {
    case .boolean: writer.field(number, boolean: try boolean(json))
    case .int32: writer.field(number, integer: Int64(try integer(json, Int32.self, "TYPE_INT32")))
    case .int64: writer.field(number, integer: try integer(json, Int64.self, "TYPE_INT64"))
    case .double: writer.field(number, double: try double(json))
    case .string: writer.field(number, string: try text(json, "TYPE_STRING"))
    case .bytes: writer.field(number, bytes: try byteArray(json))
    case .null:
      switch json.kind {
      case .null, .string("NULL_VALUE"), .integer(0): writer.field(number, varint: 0)
      default: throw invalid(json, "type.googleapis.com/google.protobuf.NullValue")
      }
    case .enumeration(let schema): writer.field(number, integer: Int64(try enumeration(json, schema)))
    case .message(let schema): writer.field(number, bytes: try message(json, schema()))
    case .timestamp:
      if let message = try spelledOut(json, Schema.timestamp) { return writer.field(number, bytes: message) }
      writer.field(number, timestamp: try timestamp(json))
    case .wrapper(let kind):
      let message = try spelledOut(json, MessageSchema("google.protobuf", [FieldSchema(1, "value", kind)]))
      if let message { return writer.field(number, bytes: message) }
      var inner = WireWriter()
      try single(json, kind, 1, into: &inner)
      writer.field(number, bytes: inner.bytes)
    // Only responses have these types.
    case .duration, .structure: throw invalid(json, "TYPE_MESSAGE")
    }
  }

  /// Reads a message of a type that has a special JSON form, if the message is written as fields instead; `nil` if it
  /// has the special form.
  private mutating func spelledOut(
    _ json: JSONSyntax, _ schema: @autoclosure () -> MessageSchema
  ) throws(RPCStatus) -> [UInt8]? {
    guard dialect == .spelledOut || dialect == .lenient, case .object = json.kind else { return nil }
    return try message(json, schema())
  }

  // MARK: Scalars

  private func boolean(_ json: JSONSyntax) throws(RPCStatus) -> Bool {
    switch json.kind {
    case .boolean(let value): return value
    case .string("true") where isText: return true
    case .string("false") where isText: return false
    default: throw invalid(json, "TYPE_BOOL")
    }
  }

  private func integer<Integer: FixedWidthInteger>(
    _ json: JSONSyntax, _ type: Integer.Type, _ name: String
  ) throws(RPCStatus) -> Integer {
    let value: Integer? =
      switch json.kind {
      case .integer(let value): Integer(exactly: value)
      case .double(let value): Integer(exactly: value)
      case .string(let text): Integer(text) ?? Double(text).flatMap { Integer(exactly: $0) }
      default: nil
      }
    guard let value else { throw invalid(json, name) }
    return value
  }

  private func double(_ json: JSONSyntax) throws(RPCStatus) -> Double {
    switch json.kind {
    case .integer(let value): return Double(value)
    case .double(let value): return value
    case .string("NaN"): return .nan
    case .string("Infinity"): return .infinity
    case .string("-Infinity"): return -.infinity
    case .string("-0"): return -0.0
    case .string(let text):
      // The text must be a JSON number, since Swift also parses "inf", "0x1p3" and so on.
      if let syntax = try? JSONSyntax(parsing: text, numbers: .ofAnySize) {
        if case .integer(let value) = syntax.kind { return Double(value) }
        if case .double(let value) = syntax.kind { return value }
      }
    default: break
    }
    throw invalid(json, "TYPE_DOUBLE")
  }

  private func text(_ json: JSONSyntax, _ type: String) throws(RPCStatus) -> String {
    guard case .string(let text) = json.kind else { throw invalid(json, type) }
    return text
  }

  /// Decodes base64 in either alphabet, with or without padding.
  private func byteArray(_ json: JSONSyntax) throws(RPCStatus) -> [UInt8] {
    let text = try text(json, "TYPE_BYTES")
    var standard = text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    while !standard.count.isMultiple(of: 4) { standard.append(UInt8(ascii: "=")) }
    guard let bytes = Base64.decode(String(decoding: standard, as: UTF8.self)) else {
      let shown = JSONSyntax(.string(text.shortened)).lineText
      throw .invalid("Invalid value at '\(path)' (TYPE_BYTES), Base64 decoding failed for \(shown)")
    }
    return bytes
  }

  private func enumeration(_ json: JSONSyntax, _ schema: EnumSchema) throws(RPCStatus) -> Int32 {
    switch json.kind {
    case .string(let name):
      if let number = schema.cases[name] ?? (isText ? Int32(name) : nil) { return number }
    case .integer(let number): if let number = Int32(exactly: number) { return number }
    default: break
    }
    throw invalid(json, "type.googleapis.com/\(schema.name)")
  }

  private func timestamp(_ json: JSONSyntax) throws(RPCStatus) -> Timestamp {
    let type = "type.googleapis.com/google.protobuf.Timestamp"
    let text = try text(json, type)
    guard let time = Timestamp(rfc3339: text) else {
      throw .invalid(
        "Invalid value at '\(path)' (\(type)), \(JSONSyntax(.string(text.shortened)).lineText) is not a time such as "
          + "\"2026-03-02T11:58:03.120Z\", which ends with Z or an offset.")
    }
    return time
  }

  // MARK: Messages about faults

  /// The path of the current field, for example `writes[0].update.fields[2].value`.
  private var path: String {
    trail.reduce(into: "") { text, step in
      switch step {
      case .field(let name): text += text.isEmpty ? name : "." + name
      case .index(let index): text += "[\(index)]"
      }
    }
  }

  private func invalid(_ json: JSONSyntax, _ type: String) -> RPCStatus {
    let shown =
      switch json.kind {
      case .string(let text): JSONSyntax(.string(text.shortened)).lineText
      case .array, .object: json.kindName
      default: json.lineText
      }
    return .invalid("Invalid value at '\(path)' (\(type)), \(shown)")
  }

  private func unknown(_ name: String, _ reason: String? = nil) -> RPCStatus {
    let place = trail.isEmpty ? "" : " at '\(path)'"
    let usual =
      isText
      ? "Cannot bind query parameter. Field '\(name.shortened)' could not be found in request message."
      : "Cannot find field."
    return .invalid("Invalid JSON payload received. Unknown name \"\(name.shortened)\"\(place): \(reason ?? usual)")
  }
}

extension RPCStatus {
  package static func invalid(_ message: String) -> RPCStatus { RPCStatus(.invalidArgument, message) }
}

extension String {
  /// The part of a text that an error message quotes.
  package var shortened: String {
    unicodeScalars.count > 100 ? String(String.UnicodeScalarView(unicodeScalars.prefix(100))) + "…" : self
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// A JSON object with which another tool represents a value whose type JSON does not have.
struct ForeignObject {
  /// The format of the object, for messages.
  let form: String
  let type: ColumnType
  /// The value in Hearth's format.
  let value: JSONSyntax
  /// Whether an ordinary map in a document could look the same as this object.
  let isPossibleMap: Bool

  private init(_ form: String, _ type: ColumnType, _ value: JSONSyntax, isPossibleMap: Bool = false) {
    (self.form, self.type, self.value, self.isPossibleMap) = (form, type, value, isPossibleMap)
  }

  /// - Returns: `nil` for any other object.
  /// - Throws: if the format of the object is certain and its content is invalid.
  init?(_ members: [JSONSyntax.Member], of syntax: JSONSyntax) throws(JSONError) {
    guard let first = members.first, members.count <= 6 else { return nil }
    let found: ForeignObject?
    if syntax["__datatype__"] != nil {
      found = try Self.datatype(syntax)
    } else if first.name.utf8.first == UInt8(ascii: "$"), members.count <= 3 {
      found = try Self.extended(members, syntax)
    } else {
      found = Self.plain(members, syntax)
    }
    guard let found else { return nil }
    self = found
  }

  // MARK: node-firestore-import-export

  private static func datatype(_ syntax: JSONSyntax) throws(JSONError) -> ForeignObject {
    let content = syntax["value"] ?? JSONSyntax(.null)
    let name = syntax["__datatype__"]?.string ?? ""
    func found(_ type: ColumnType, _ value: JSONSyntax?) throws(JSONError) -> ForeignObject {
      guard let value else {
        throw content.error("\"__datatype__\": \"\(name)\" has the wrong value: \(content.lineText.prefix(60)).")
      }
      return ForeignObject(#"{"__datatype__", "value"}"#, type, value)
    }
    switch name.lowercased() {
    case "timestamp", "date": return try found(.timestamp, time(content))
    case "geopoint": return try found(.geo, point(content))
    case "documentreference", "reference": return try found(.ref, reference(content))
    case "bytes", "buffer", "blob": return try found(.bytes, bytes(content))
    case "servertimestamp":
      return ForeignObject(
        #"{"__datatype__": "serverTimestamp"}"#, .timestamp,
        ForeignValues.typed("$serverTimestamp", JSONSyntax(.boolean(true))))
    default:
      throw syntax.error(
        "\"__datatype__\": \"\(name)\" is unknown. Expected timestamp, geopoint, documentReference, bytes or "
          + "serverTimestamp.")
    }
  }

  // MARK: MongoDB's extended JSON

  private static func extended(
    _ members: [JSONSyntax.Member], _ syntax: JSONSyntax
  ) throws(JSONError) -> ForeignObject? {
    let (name, content) = (members[0].name, members[0].value)
    func found(_ type: ColumnType, _ value: JSONSyntax?) throws(JSONError) -> ForeignObject {
      guard let value else { throw content.error("\"\(name)\" has an invalid value.") }
      return ForeignObject("{\"\(name)\"}", type, value, isPossibleMap: members.count > 1)
    }
    switch (name, members.count) {
    case ("$oid", 1), ("$symbol", 1), ("$uuid", 1), ("$code", 1): return try found(.string, content.string.map(text))
    case ("$numberLong", 1), ("$numberInt", 1): return try found(.integer, integer(content))
    case ("$numberDouble", 1), ("$numberDecimal", 1): return try found(.double, double(content))
    case ("$date", 1): return try found(.timestamp, time(content))
    case ("$undefined", 1): return try found(.json, JSONSyntax(.null))
    case ("$timestamp", 1):
      // A string is Hearth's own form.
      guard case .integer(let seconds)? = content["t"]?.kind else { return nil }
      return try found(.timestamp, time(Timestamp(seconds: seconds)))
    case ("$binary", 1): return try found(.bytes, content["base64"].flatMap(bytes))
    case ("$binary", 2) where syntax["$type"] != nil: return try found(.bytes, bytes(content))
    case ("$ref", _) where syntax["$id"] != nil:
      guard let collection = content.string, let id = syntax["$id"] else { return nil }
      let name = id["$oid"]?.string ?? id.string ?? integer(id).map(\.lineText)
      return try found(.ref, name.flatMap { reference(JSONSyntax(.string("\(collection)/\($0)"))) })
    default: return nil
    }
  }

  // MARK: Objects of the SDKs in JSON

  private static func plain(_ members: [JSONSyntax.Member], _ syntax: JSONSyntax) -> ForeignObject? {
    if let type = syntax["type"]?.string { return sdk(type, members, syntax) }
    if let path = syntax["_path"], members.allSatisfy({ $0.name.hasPrefix("_") || $0.name == "firestore" }) {
      return reference(path).map { ForeignObject(#"{"_path"}"#, .ref, $0, isPossibleMap: true) }
    }
    if members.count == 1 {
      if let text = syntax["__time__"] { return time(text).map { ForeignObject(#"{"__time__"}"#, .timestamp, $0) } }
      guard let values = syntax["_values"], let vector = vector(values) else { return nil }
      return ForeignObject(#"{"_values"}"#, .vector, vector, isPossibleMap: true)
    }
    guard members.count == 2 else { return nil }
    for prefix in ["_", ""] where syntax["\(prefix)seconds"] != nil {
      guard let value = timeOfParts(syntax) else { return nil }
      let rest = syntax["nanos"] == nil ? "\(prefix)nanoseconds" : "nanos"
      return ForeignObject("{\"\(prefix)seconds\", \"\(rest)\"}", .timestamp, value, isPossibleMap: true)
    }
    if syntax["_latitude"] != nil, let value = point(syntax) {
      return ForeignObject(#"{"_latitude", "_longitude"}"#, .geo, value, isPossibleMap: true)
    }
    return nil
  }

  /// An object that `JSON.stringify` returns for a value of the web SDK or for a Node buffer.
  private static func sdk(
    _ type: String, _ members: [JSONSyntax.Member], _ syntax: JSONSyntax
  ) -> ForeignObject? {
    let value: (ColumnType, JSONSyntax?)
    switch type {
    case "firestore/timestamp/1.0": value = (.timestamp, timeOfParts(syntax))
    case "firestore/geoPoint/1.0": value = (.geo, point(syntax))
    case "firestore/documentReference/1.0": value = (.ref, syntax["referencePath"].flatMap(reference))
    case "firestore/bytes/1.0": value = (.bytes, syntax["bytes"].flatMap(bytes))
    case "firestore/vectorValue/1.0": value = (.vector, syntax["vectorValues"].flatMap(vector))
    case "document":
      guard let path = syntax["_key"]?["path"] else { return nil }
      value = (.ref, reference(path))
    case "Buffer" where members.count == 2: value = (.bytes, bytes(syntax))
    default: return nil
    }
    return value.1.map { ForeignObject("{\"type\": \"\(type)\"}", value.0, $0, isPossibleMap: true) }
  }
}

// MARK: Values

extension ForeignObject {
  static func text(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }

  static func time(_ time: Timestamp) -> JSONSyntax? {
    time.isValid ? ForeignValues.typed("$timestamp", text(time.rfc3339Text)) : nil
  }

  /// Converts a time: a text, milliseconds or seconds since 1970, or an object with its parts.
  static func time(_ syntax: JSONSyntax) -> JSONSyntax? {
    switch syntax.kind {
    case .string(let text): return timestamp(text).flatMap(time)
    case .integer(let number): return milliseconds(number)
    case .double(let number) where number.rounded() == number: return Int64(exactly: number).flatMap(milliseconds)
    case .object:
      if let number = syntax["$numberLong"] { return integer(number).flatMap(time) }
      if let inner = syntax["$date"] ?? syntax["$timestamp"] { return time(inner) }
      return timeOfParts(syntax)
    default: return nil
    }
  }

  /// Converts a time after 1970 in milliseconds, as in JavaScript. A number that would be before March 1973 is
  /// interpreted as seconds.
  private static func milliseconds(_ number: Int64) -> JSONSyntax? {
    if number.magnitude < 100_000_000_000 { return time(Timestamp(seconds: number)) }
    let seconds = number >= 0 ? number / 1000 : (number - 999) / 1000
    return time(Timestamp(seconds: seconds, nanoseconds: Int32(number - seconds * 1000) * 1_000_000))
  }

  /// Parses RFC 3339. The offset need not have a colon, because old MongoDB exports write it without one.
  private static func timestamp(_ text: String) -> Timestamp? {
    if let time = Timestamp(rfc3339: text) { return time }
    guard text.wholeMatch(of: /.*T.*[+-]\d{4}/) != nil else { return nil }
    return Timestamp(rfc3339: "\(text.dropLast(2)):\(text.suffix(2))")
  }

  fileprivate static func timeOfParts(_ syntax: JSONSyntax) -> JSONSyntax? {
    guard let seconds = (syntax["_seconds"] ?? syntax["seconds"]).flatMap(wholeNumber),
      let nanoseconds = (syntax["_nanoseconds"] ?? syntax["nanoseconds"] ?? syntax["nanos"]).flatMap(wholeNumber),
      (0..<1_000_000_000).contains(nanoseconds)
    else { return nil }
    return time(Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds)))
  }

  private static func wholeNumber(_ syntax: JSONSyntax) -> Int64? {
    switch syntax.kind {
    case .integer(let number): number
    case .double(let number): Int64(exactly: number)
    case .string(let text): Int64(text)
    default: nil
    }
  }

  static func integer(_ syntax: JSONSyntax) -> JSONSyntax? {
    (wholeNumber(syntax["$numberLong"] ?? syntax["$numberInt"] ?? syntax)).map { JSONSyntax(.integer($0)) }
  }

  static func double(_ syntax: JSONSyntax) -> JSONSyntax? {
    switch syntax.kind {
    case .integer(let number): return JSONSyntax(.double(Double(number)))
    case .double: return syntax
    case .string(let text):
      if ["NaN", "Infinity", "-Infinity"].contains(text) { return ForeignValues.typed("$double", syntax) }
      guard let number = Double(text), number.isFinite else { return nil }
      return JSONSyntax(.double(number))
    default: return (syntax["$numberDouble"] ?? syntax["$numberDecimal"]).flatMap(double)
    }
  }

  /// Converts a point: an object with degrees, or an array of latitude and longitude.
  static func point(_ syntax: JSONSyntax) -> JSONSyntax? {
    var parts: [JSONSyntax?] = []
    if case .array(let elements) = syntax.kind, elements.count == 2 {
      parts = elements
    } else {
      parts = [
        syntax["_latitude"] ?? syntax["latitude"] ?? syntax["lat"],
        syntax["_longitude"] ?? syntax["longitude"] ?? syntax["lng"] ?? syntax["lon"],
      ]
    }
    let degrees = parts.compactMap { $0.flatMap(double) }
    guard degrees.count == 2, case .double(let latitude) = degrees[0].kind,
      case .double(let longitude) = degrees[1].kind,
      abs(latitude) <= 90, abs(longitude) <= 180
    else { return nil }
    return ForeignValues.typed("$geo", JSONSyntax(.array(degrees)))
  }

  /// Converts a reference: a path, a full name, or the path segments in an SDK object.
  static func reference(_ syntax: JSONSyntax) -> JSONSyntax? {
    if let text = syntax.string {
      let path = text.hasPrefix("/") ? String(text.dropFirst()) : text
      guard Value(referenceName: path) != nil || (try? DocumentKey(validating: path)) != nil else { return nil }
      return ForeignValues.typed("$ref", Self.text(path))
    }
    if case .array(let elements)? = syntax["segments"]?.kind {
      var segments = elements.compactMap(\.string)
      if let offset = syntax["offset"].flatMap(wholeNumber), offset <= segments.count, offset >= 0 {
        segments.removeFirst(Int(offset))
      }
      return reference(text(segments.joined(separator: "/")))
    }
    return (syntax["path"] ?? syntax["_path"] ?? syntax["referencePath"]).flatMap(reference)
  }

  static func bytes(_ syntax: JSONSyntax) -> JSONSyntax? {
    if let text = syntax.string { return Base64.decode(text).map { _ in ForeignValues.typed("$bytes", syntax) } }
    guard case .array(let elements)? = syntax["data"]?.kind else { return nil }
    let bytes = elements.compactMap { wholeNumber($0).flatMap { UInt8(exactly: $0) } }
    return bytes.count == elements.count ? ForeignValues.typed("$bytes", text(Base64.encode(bytes))) : nil
  }

  static func vector(_ syntax: JSONSyntax) -> JSONSyntax? {
    guard case .array(let elements) = syntax.kind, elements.allSatisfy({ double($0) != nil }) else { return nil }
    return ForeignValues.typed("$vector", syntax)
  }
}

extension ColumnType {
  /// Converts a JSON value to this type, in Hearth's format.
  /// - Parameter field: the name of the field in errors.
  func value(_ syntax: JSONSyntax, at field: String, in database: DatabaseID) throws(JSONError) -> JSONSyntax {
    if case .null = syntax.kind { return syntax }
    if self == .json, syntax.string == nil { return kept(syntax) }
    guard var value = converted(syntax, in: database) else {
      let text = syntax.lineText
      let shown = text.count > 40 ? text.prefix(40) + "…" : text[...]
      throw syntax.error("\(field) is not of type \(rawValue): \(shown).")
    }
    (value.line, value.column) = (syntax.line, syntax.column)
    return value
  }

  /// Returns the value unchanged. An object is a map, even if it looks like a value of another type in Hearth's format.
  private func kept(_ syntax: JSONSyntax) -> JSONSyntax {
    guard case .object(let members) = syntax.kind, members.count == 1, members[0].name.hasPrefix("$") else {
      return syntax
    }
    return ForeignValues.typed("$map", syntax)
  }

  private func converted(_ syntax: JSONSyntax, in database: DatabaseID) -> JSONSyntax? {
    let object: JSONSyntax? =
      switch self {
      case .timestamp: ForeignObject.time(syntax)
      case .geo: ForeignObject.point(syntax)
      case .ref: ForeignObject.reference(syntax)
      case .bytes: ForeignObject.bytes(syntax)
      case .vector: ForeignObject.vector(syntax)
      case .integer: ForeignObject.integer(syntax)
      case .double: ForeignObject.double(syntax)
      case .boolean: if case .boolean = syntax.kind { syntax } else { nil }
      case .string:
        syntax.string != nil ? syntax : ForeignObject.text((syntax["$oid"] ?? syntax).string ?? syntax.lineText)
      case .json: nil
      }
    if let object { return object }
    // A string in a cell's form, such as TRUE for a boolean.
    return syntax.string.flatMap { (try? self.syntax($0, isQuoted: true, in: database)) ?? nil }
  }
}

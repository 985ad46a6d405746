// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Firestore values as JSON for people: plain JSON for the types that it has, single-key `$` objects for the other
/// types.
///
/// An integer literal is an integer, one with a point or exponent a double. The `$` objects:
///
///     {"$timestamp": "2026-03-02T11:58:03.120Z"}      {"$geo": [52.37, 4.89]}
///     {"$ref": "users/ada"}  (or the full name)       {"$vector": [0.5, 1.0]}
///     {"$bytes": "aGVhcnRo"}  (base64)                {"$double": "NaN"}  ("Infinity", "-Infinity")
///     {"$map": {…}}  (a map that would look like one of these)
///
/// and, as the value of a field only, the transforms
///
///     {"$serverTimestamp": true}   {"$increment": 1}   {"$minimum": 1}   {"$maximum": 1}
///     {"$arrayUnion": […]}         {"$arrayRemove": […]}
package enum DocumentJSON {
  /// The fields on several lines, indented by two spaces, names in UTF-8 order; `$` objects on one line.
  /// - Parameter database: references into it are written by their path, others by their full name.
  package static func text(of fields: Fields, relativeTo database: DatabaseID? = nil) -> String {
    let writer = ValueJSONWriter(database: database)
    return JSONSyntax(.object(writer.members(fields))).prettyText { syntax in
      guard case .object(let members) = syntax.kind, members.count == 1 else { return false }
      return TypeName(rawValue: members[0].name).map { $0 != .map } ?? false
    }
  }

  /// The text on one line.
  /// - Parameter database: references into it are written by their path, others by their full name.
  package static func line(of value: Value, relativeTo database: DatabaseID? = nil) -> String {
    ValueJSONWriter(database: database).syntax(value).lineText
  }

  /// The text on one line.
  /// - Parameter database: references into it are written by their path, others by their full name.
  package static func line(of fields: Fields, relativeTo database: DatabaseID? = nil) -> String {
    JSONSyntax(.object(ValueJSONWriter(database: database).members(fields))).lineText
  }

  /// Reads an object as a document's fields. Transforms are taken out of the fields; a map that held nothing but
  /// transforms disappears with them, as in the SDKs.
  /// - Parameter database: the database of references by path.
  /// - Throws: `JSONError` with the place and the expected content.
  package static func parse(
    _ text: String, database: DatabaseID
  ) throws(JSONError) -> (fields: Fields, transforms: [FieldTransform]) {
    try fields(of: try JSONSyntax(parsing: text), database: database)
  }

  /// Reads an object that was parsed already, such as one part of an import file, as a document's fields.
  package static func fields(
    of syntax: JSONSyntax, database: DatabaseID
  ) throws(JSONError) -> (fields: Fields, transforms: [FieldTransform]) {
    guard case .object(let members) = syntax.kind else {
      throw syntax.error("Expected an object with the document's fields, found \(syntax.kindName).")
    }
    var reader = ValueJSONReader(database: database)
    let fields = try reader.fields(members, at: nil)
    return (fields, reader.transforms)
  }

  /// Reads one value; transforms are refused.
  package static func parseValue(_ text: String, database: DatabaseID) throws(JSONError) -> Value {
    let reader = ValueJSONReader(database: database)
    return try reader.value(try JSONSyntax(parsing: text))
  }
}

/// The names of `$` objects.
enum TypeName: String, CaseIterable {
  case timestamp = "$timestamp"
  case reference = "$ref"
  case bytes = "$bytes"
  case geoPoint = "$geo"
  case vector = "$vector"
  case double = "$double"
  case map = "$map"
  case serverTimestamp = "$serverTimestamp"
  case increment = "$increment"
  case minimum = "$minimum"
  case maximum = "$maximum"
  case arrayUnion = "$arrayUnion"
  case arrayRemove = "$arrayRemove"

  var isTransform: Bool {
    switch self {
    case .serverTimestamp, .increment, .minimum, .maximum, .arrayUnion, .arrayRemove: true
    case .timestamp, .reference, .bytes, .geoPoint, .vector, .double, .map: false
    }
  }

  static func looksLikeOne(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "$") }
}

/// Turns Firestore values into JSON.
struct ValueJSONWriter {
  /// References into this database are written by their path.
  let database: DatabaseID?

  func members(_ fields: Fields) -> [JSONSyntax.Member] {
    fields.entries.map { JSONSyntax.Member($0.name, syntax($0.value)) }
  }

  func syntax(_ value: Value) -> JSONSyntax {
    switch value {
    case .null: JSONSyntax(.null)
    case .boolean(let value): JSONSyntax(.boolean(value))
    case .integer(let value): JSONSyntax(.integer(value))
    case .double(let value): double(value)
    case .string(let value): JSONSyntax(.string(value))
    case .timestamp(let value): typed(.timestamp, JSONSyntax(.string(value.rfc3339Text)))
    case .serverTimestamp: typed(.serverTimestamp, JSONSyntax(.boolean(true)))
    case .bytes(let value): typed(.bytes, JSONSyntax(.string(Base64.encode(value))))
    case .reference(let database, let key): typed(.reference, JSONSyntax(.string(reference(database, key))))
    case .geoPoint(let value):
      typed(.geoPoint, JSONSyntax(.array([double(value.latitude), double(value.longitude)])))
    case .vector(let values): typed(.vector, JSONSyntax(.array(values.map(double))))
    case .array(let values): JSONSyntax(.array(values.map(syntax)))
    case .map(let fields): map(fields)
    }
  }

  private func map(_ fields: Fields) -> JSONSyntax {
    let object = JSONSyntax(.object(members(fields)))
    let looksTyped = fields.count == 1 && TypeName.looksLikeOne(fields.entries[0].name)
    return looksTyped ? typed(.map, object) : object
  }

  private func double(_ value: Double) -> JSONSyntax {
    if value.isFinite { return JSONSyntax(.double(value)) }
    let name = value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
    return typed(.double, JSONSyntax(.string(name)))
  }

  /// The text of a reference: its path within the database, or its full name, also if the path looks like one.
  private func reference(_ database: DatabaseID, _ key: DocumentKey) -> String {
    database == self.database && Value(referenceName: key.path.text) == nil ? key.path.text : database.name(of: key)
  }

  private func typed(_ name: TypeName, _ content: JSONSyntax) -> JSONSyntax {
    JSONSyntax(.object([JSONSyntax.Member(name.rawValue, content)]))
  }
}

/// Turns JSON into Firestore values, and collects the transforms among the fields.
struct ValueJSONReader {
  /// The database of references by path.
  let database: DatabaseID
  private(set) var transforms: [FieldTransform] = []

  init(database: DatabaseID) { self.database = database }

  // MARK: Fields

  /// The members as fields; transforms among them, at any depth of maps, go to `transforms`.
  mutating func fields(_ members: [JSONSyntax.Member], at parent: FieldPath?) throws(JSONError) -> Fields {
    var entries: [Fields.Entry] = []
    for member in members {
      let path = parent?.appending(member.name) ?? FieldPath(member.name)
      if let value = try field(member.value, at: path) { entries.append((member.name, value)) }
    }
    return Fields(entries)
  }

  /// Reads one field.
  /// - Returns: `nil` for a transform, and for a map that held nothing but transforms.
  private mutating func field(_ syntax: JSONSyntax, at path: FieldPath) throws(JSONError) -> Value? {
    guard case .object(let members) = syntax.kind else { return try value(syntax) }
    var content = members
    if let (name, inner) = try typed(syntax) {
      if name.isTransform {
        transforms.append(FieldTransform(path: path, operation: try transform(name, inner)))
        return nil
      }
      guard name == .map else { return try value(syntax) }
      content = try literalMembers(inner)
    }
    let fields = try fields(content, at: path)
    return fields.isEmpty && !content.isEmpty ? nil : .map(fields)
  }

  private func transform(_ name: TypeName, _ syntax: JSONSyntax) throws(JSONError) -> FieldTransform.Operation {
    switch name {
    case .increment: return .increment(try number(syntax, name))
    case .minimum: return .minimum(try number(syntax, name))
    case .maximum: return .maximum(try number(syntax, name))
    case .arrayUnion: return .arrayUnion(try elements(syntax, name))
    case .arrayRemove: return .arrayRemove(try elements(syntax, name))
    default:
      guard case .boolean(true) = syntax.kind else {
        throw syntax.error("\"\(name.rawValue)\" expects true, found \(syntax.kindName).")
      }
      return .serverTimestamp
    }
  }

  private func elements(_ syntax: JSONSyntax, _ name: TypeName) throws(JSONError) -> [Value] {
    guard case .array(let elements) = syntax.kind else {
      throw syntax.error("\"\(name.rawValue)\" expects an array, found \(syntax.kindName).")
    }
    return try values(elements)
  }

  private func number(_ syntax: JSONSyntax, _ name: TypeName) throws(JSONError) -> Value {
    let value = try value(syntax)
    guard value.isNumber else { throw syntax.error("\"\(name.rawValue)\" expects a number, found \(syntax.kindName).") }
    return value
  }

  // MARK: Values

  /// A value in which no transform may occur.
  func value(_ syntax: JSONSyntax) throws(JSONError) -> Value {
    switch syntax.kind {
    case .null: return .null
    case .boolean(let value): return .boolean(value)
    case .integer(let value): return .integer(value)
    case .double(let value): return .double(value)
    case .string(let value): return .string(value)
    case .array(let elements): return .array(try values(elements))
    case .object(let members):
      if let (name, inner) = try typed(syntax) { return try value(name, inner, of: syntax) }
      return .map(try literal(members))
    }
  }

  private func values(_ elements: [JSONSyntax]) throws(JSONError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(elements.count)
    for element in elements { values.append(try value(element)) }
    return values
  }

  private func literal(_ members: [JSONSyntax.Member]) throws(JSONError) -> Fields {
    var entries: [Fields.Entry] = []
    for member in members { entries.append((member.name, try value(member.value))) }
    return Fields(entries)
  }

  private func literalMembers(_ syntax: JSONSyntax) throws(JSONError) -> [JSONSyntax.Member] {
    guard case .object(let members) = syntax.kind else {
      throw syntax.error("\"$map\" expects an object, found \(syntax.kindName).")
    }
    return members
  }

  /// The type and content of a `$` object; `nil` for any other value.
  private func typed(_ syntax: JSONSyntax) throws(JSONError) -> (TypeName, JSONSyntax)? {
    guard case .object(let members) = syntax.kind, members.count == 1, TypeName.looksLikeOne(members[0].name) else {
      return nil
    }
    guard let name = TypeName.allCases.first(where: { $0.rawValue.equalsUTF8(members[0].name) }) else {
      let known = TypeName.allCases.map(\.rawValue).joined(separator: ", ")
      throw syntax.error(
        "\"\(members[0].name)\" is not a type. Expected one of \(known); a map that really has this name is written "
          + "{\"$map\": {\"\(members[0].name)\": …}}.")
    }
    return (name, members[0].value)
  }

  private func value(
    _ name: TypeName, _ content: JSONSyntax, of syntax: JSONSyntax
  ) throws(JSONError) -> Value {
    switch name {
    case .timestamp: return .timestamp(try timestamp(content))
    case .reference: return try reference(content)
    case .bytes: return .bytes(try bytes(content))
    case .geoPoint: return .geoPoint(try geoPoint(content))
    case .vector: return .vector(try vector(content))
    case .double: return .double(try specialDouble(content))
    case .map: return .map(try literal(try literalMembers(content)))
    case .serverTimestamp, .increment, .minimum, .maximum, .arrayUnion, .arrayRemove:
      throw syntax.error(
        "\"\(name.rawValue)\" can only be the value of a field, not stand inside an array or another value.")
    }
  }

  private func text(_ syntax: JSONSyntax, _ name: TypeName, expects: String) throws(JSONError) -> String {
    guard case .string(let text) = syntax.kind else {
      throw syntax.error("\"\(name.rawValue)\" expects \(expects), found \(syntax.kindName).")
    }
    return text
  }

  private func timestamp(_ syntax: JSONSyntax) throws(JSONError) -> Timestamp {
    let expected = "a time such as \"2026-03-02T11:58:03.120Z\""
    let text = try text(syntax, .timestamp, expects: expected)
    guard let timestamp = Timestamp(rfc3339: text) else {
      throw syntax.error("\"$timestamp\" expects \(expected), found \"\(text)\".")
    }
    return timestamp
  }

  private func reference(_ syntax: JSONSyntax) throws(JSONError) -> Value {
    let text = try text(syntax, .reference, expects: "a document's path such as \"users/ada\"")
    if let reference = Value(referenceName: text) { return reference }
    do throws(ModelError) {
      return .reference(database, try DocumentKey(validating: text))
    } catch {
      throw syntax.error(error.message)
    }
  }

  private func bytes(_ syntax: JSONSyntax) throws(JSONError) -> [UInt8] {
    let text = try text(syntax, .bytes, expects: "a string in base64")
    guard let bytes = Base64.decode(text) else {
      throw syntax.error("\"$bytes\" expects base64 with padding; this string is not.")
    }
    return bytes
  }

  private func geoPoint(_ syntax: JSONSyntax) throws(JSONError) -> GeoPoint {
    guard case .array(let elements) = syntax.kind, elements.count == 2 else {
      throw syntax.error("\"$geo\" expects an array of latitude and longitude, found \(syntax.kindName).")
    }
    let latitude = try degrees(elements[0], "latitude", limit: 90)
    let longitude = try degrees(elements[1], "longitude", limit: 180)
    return GeoPoint(latitude: latitude, longitude: longitude)
  }

  private func degrees(_ syntax: JSONSyntax, _ name: String, limit: Double) throws(JSONError) -> Double {
    guard let degrees = try coordinate(syntax), abs(degrees) <= limit else {
      throw syntax.error("\"$geo\" expects a \(name) from -\(Int(limit)) to \(Int(limit)) degrees.")
    }
    return degrees
  }

  private func vector(_ syntax: JSONSyntax) throws(JSONError) -> [Double] {
    guard case .array(let elements) = syntax.kind else {
      throw syntax.error("\"$vector\" expects an array of numbers, found \(syntax.kindName).")
    }
    var values: [Double] = []
    values.reserveCapacity(elements.count)
    for element in elements {
      guard let number = try coordinate(element) else {
        throw element.error("\"$vector\" expects numbers, found \(element.kindName).")
      }
      values.append(number)
    }
    return values
  }

  /// A number as a double; an integer literal is accepted, since only doubles can stand here.
  private func coordinate(_ syntax: JSONSyntax) throws(JSONError) -> Double? {
    switch try value(syntax) {
    case .integer(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  private func specialDouble(_ syntax: JSONSyntax) throws(JSONError) -> Double {
    let expected = "\"NaN\", \"Infinity\" or \"-Infinity\""
    switch try text(syntax, .double, expects: expected) {
    case "NaN": return .nan
    case "Infinity": return .infinity
    case "-Infinity": return -.infinity
    case let other: throw syntax.error("\"$double\" expects \(expected), found \"\(other)\".")
    }
  }
}

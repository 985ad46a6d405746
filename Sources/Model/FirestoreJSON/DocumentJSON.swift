// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The human-readable JSON of Firestore values. Values of types that JSON supports are written as plain JSON. Values of
/// other types become objects with a single key that begins with `$`.
///
/// A number without a decimal point or an exponent is an integer. Any other number is a double. The `$` objects are:
///
///     {"$timestamp": "2026-03-02T11:58:03.120Z"}      {"$geo": [52.37, 4.89]}
///     {"$ref": "users/ada"}  (or the full name)       {"$vector": [0.5, 1.0]}
///     {"$bytes": "aGVhcnRo"}  (base64)                {"$double": "NaN"}  ("Infinity", "-Infinity")
///     {"$map": {…}}  (a map that would look like one of these)
///
/// The following transforms are also allowed, but only as the value of a field:
///
///     {"$serverTimestamp": true}   {"$increment": 1}   {"$minimum": 1}   {"$maximum": 1}
///     {"$arrayUnion": […]}         {"$arrayRemove": […]}
package enum DocumentJSON {
  /// The fields on several lines, indented by two spaces, and sorted by the UTF-8 bytes of their names. Each `$` object
  /// is written on one line.
  /// - Parameter database: the database whose references are written as paths. Other references are written as full
  ///   names.
  package static func text(of fields: Fields, relativeTo database: DatabaseID? = nil) -> String {
    let writer = ValueJSONWriter(database: database)
    return JSONSyntax(.object(writer.members(fields))).prettyText { syntax in
      guard case .object(let members) = syntax.kind, members.count == 1 else { return false }
      return TypeName(rawValue: members[0].name).map { $0 != .map } ?? false
    }
  }

  /// The value on one line.
  /// - Parameter database: the database whose references are written as paths. Other references are written as full
  ///   names.
  package static func line(of value: Value, relativeTo database: DatabaseID? = nil) -> String {
    ValueJSONWriter(database: database).syntax(value).lineText
  }

  /// The fields on one line.
  /// - Parameter database: the database whose references are written as paths. Other references are written as full
  ///   names.
  package static func line(of fields: Fields, relativeTo database: DatabaseID? = nil) -> String {
    JSONSyntax(.object(ValueJSONWriter(database: database).members(fields))).lineText
  }

  /// Reads a JSON object as a document's fields. Transforms are returned separately. A map that contains only
  /// transforms is omitted from the fields, as in the SDKs.
  /// - Parameter database: the database to which references that are written as paths belong.
  /// - Throws: `JSONError` with the position and a description of the expected content.
  package static func parse(
    _ text: String, database: DatabaseID
  ) throws(JSONError) -> (fields: Fields, transforms: [FieldTransform]) {
    try fields(of: try JSONSyntax(parsing: text), database: database)
  }

  /// Reads a parsed object, such as one part of an import file, as a document's fields.
  package static func fields(
    of syntax: JSONSyntax, database: DatabaseID, isExact: Bool = false
  ) throws(JSONError) -> (fields: Fields, transforms: [FieldTransform]) {
    guard case .object(let members) = syntax.kind else {
      throw syntax.error("Expected an object with the document's fields, found \(syntax.kindName).")
    }
    var reader = ValueJSONReader(database: database, isExact: isExact)
    let fields = try reader.fields(members, at: nil)
    return (fields, reader.transforms)
  }

  /// The JSON form that preserves the value exactly. In contrast to the other functions, this one preserves the
  /// estimates of pending server timestamps, minus zero, and timestamps and locations that Firestore rejects.
  package static func exact(_ value: Value, relativeTo database: DatabaseID?) -> JSONSyntax {
    ValueJSONWriter(database: database, isExact: true).syntax(value)
  }

  /// The JSON form that preserves the fields exactly; see `exact(_:relativeTo:)` for a value.
  package static func exact(_ fields: Fields, relativeTo database: DatabaseID?) -> JSONSyntax {
    JSONSyntax(.object(ValueJSONWriter(database: database, isExact: true).members(fields)))
  }

  /// Reads fields that `exact` wrote.
  package static func exactFields(of syntax: JSONSyntax, database: DatabaseID) throws(JSONError) -> Fields {
    guard case .object(let members) = syntax.kind else {
      throw syntax.error("Expected an object with fields, found \(syntax.kindName).")
    }
    return try ValueJSONReader(database: database, isExact: true).literal(members)
  }

  /// Reads a value that `exact` wrote.
  package static func exactValue(of syntax: JSONSyntax, database: DatabaseID) throws(JSONError) -> Value {
    try ValueJSONReader(database: database, isExact: true).value(syntax)
  }

  /// Reads one value, and rejects transforms.
  package static func parseValue(_ text: String, database: DatabaseID) throws(JSONError) -> Value {
    let reader = ValueJSONReader(database: database)
    return try reader.value(try JSONSyntax(parsing: text))
  }
}

/// The names of the `$` objects.
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

/// Converts Firestore values to JSON.
struct ValueJSONWriter {
  /// The database whose references are written as paths; `nil` to write full names.
  let database: DatabaseID?
  var isExact = false

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
    case .timestamp(let value): typed(.timestamp, timestamp(value))
    case .serverTimestamp(let value): typed(.serverTimestamp, isExact ? estimate(value) : JSONSyntax(.boolean(true)))
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
    let isMinusZero = isExact && value == 0 && value.sign == .minus
    if value.isFinite, !isMinusZero { return JSONSyntax(.double(value)) }
    let name = isMinusZero ? "-0.0" : value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
    return typed(.double, JSONSyntax(.string(name)))
  }

  private func timestamp(_ time: Timestamp) -> JSONSyntax {
    if time.isValid || !isExact { return JSONSyntax(.string(time.rfc3339Text)) }
    return JSONSyntax(.array([JSONSyntax(.integer(time.seconds)), JSONSyntax(.integer(Int64(time.nanoseconds)))]))
  }

  private func estimate(_ value: ServerTimestamp) -> JSONSyntax {
    let previous = value.previous.map { [JSONSyntax.Member("previous", syntax($0))] } ?? []
    return JSONSyntax(.object([JSONSyntax.Member("time", timestamp(value.localWriteTime))] + previous))
  }

  /// The text of a reference: the path if the reference is in `database`, and otherwise the full name.
  private func reference(_ database: DatabaseID, _ key: DocumentKey) -> String {
    database == self.database && Value(referenceName: key.path.text) == nil ? key.path.text : database.name(of: key)
  }

  private func typed(_ name: TypeName, _ content: JSONSyntax) -> JSONSyntax {
    JSONSyntax(.object([JSONSyntax.Member(name.rawValue, content)]))
  }
}

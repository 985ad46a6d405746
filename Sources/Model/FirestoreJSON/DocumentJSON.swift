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

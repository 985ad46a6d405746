// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

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

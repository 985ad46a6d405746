// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Converts JSON to Firestore values, and collects the transforms among the fields.
struct ValueJSONReader {
  /// The database to which references that are written as paths belong.
  let database: DatabaseID
  let isExact: Bool
  private(set) var transforms: [FieldTransform] = []

  init(database: DatabaseID, isExact: Bool = false) {
    self.database = database
    self.isExact = isExact
  }

  // MARK: Fields

  /// Converts JSON members to fields. Transforms, at any depth of nested maps, are added to `transforms` instead.
  mutating func fields(_ members: [JSONSyntax.Member], at parent: FieldPath?) throws(JSONError) -> Fields {
    var entries: [Fields.Entry] = []
    for member in members {
      let path = parent?.appending(member.name) ?? FieldPath(member.name)
      if let value = try field(member.value, at: path) { entries.append((member.name, value)) }
    }
    return Fields(entries)
  }

  /// Reads one field.
  /// - Returns: `nil` if the field is a transform, or a map that contained only transforms.
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

  /// Reads a value, which must not contain a transform.
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

  func literal(_ members: [JSONSyntax.Member]) throws(JSONError) -> Fields {
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

  /// The type and content of a `$` object; `nil` if the value is not a `$` object.
  private func typed(_ syntax: JSONSyntax) throws(JSONError) -> (TypeName, JSONSyntax)? {
    guard case .object(let members) = syntax.kind, members.count == 1, TypeName.looksLikeOne(members[0].name) else {
      return nil
    }
    guard let name = TypeName.allCases.first(where: { $0.rawValue.equalsUTF8(members[0].name) }) else {
      let known = TypeName.allCases.map(\.rawValue).joined(separator: ", ")
      throw syntax.error(
        "\"\(members[0].name)\" is not a type. Expected one of \(known). For a map with this name, write "
          + "{\"$map\": {\"\(members[0].name)\": …}}.")
    }
    return (name, members[0].value)
  }

  private func value(
    _ name: TypeName, _ content: JSONSyntax, of syntax: JSONSyntax
  ) throws(JSONError) -> Value {
    switch name {
    case .timestamp: return .timestamp(try timestamp(content))
    case .serverTimestamp where isExact: return .serverTimestamp(try estimate(content))
    case .reference: return try reference(content)
    case .bytes: return .bytes(try bytes(content))
    case .geoPoint: return .geoPoint(try geoPoint(content))
    case .vector: return .vector(try vector(content))
    case .double: return .double(try specialDouble(content))
    case .map: return .map(try literal(try literalMembers(content)))
    case .serverTimestamp, .increment, .minimum, .maximum, .arrayUnion, .arrayRemove:
      throw syntax.error(
        "\"\(name.rawValue)\" is only allowed as a field's value, not inside an array or another value.")
    }
  }

  private func text(_ syntax: JSONSyntax, _ name: TypeName, expects: String) throws(JSONError) -> String {
    guard case .string(let text) = syntax.kind else {
      throw syntax.error("\"\(name.rawValue)\" expects \(expects), found \(syntax.kindName).")
    }
    return text
  }

  private func estimate(_ syntax: JSONSyntax) throws(JSONError) -> ServerTimestamp {
    guard let time = syntax["time"] else { throw syntax.error("\"$serverTimestamp\" expects a \"time\".") }
    let previous: Value? = if let previous = syntax["previous"] { try value(previous) } else { nil }
    return ServerTimestamp(localWriteTime: try timestamp(time), previous: previous)
  }

  private func timestamp(_ syntax: JSONSyntax) throws(JSONError) -> Timestamp {
    if isExact, case .array(let parts) = syntax.kind, parts.count == 2, case .integer(let seconds) = parts[0].kind,
      case .integer(let nanoseconds) = parts[1].kind
    {
      return Timestamp(seconds: seconds, nanoseconds: Int32(clamping: nanoseconds))
    }
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
      throw syntax.error("\"$bytes\" expects base64 with padding.")
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
    guard let degrees = try coordinate(syntax), isExact || abs(degrees) <= limit else {
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

  /// Reads a number as a double. Integer literals are also accepted, because only doubles are valid in this position.
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
    case "-0.0" where isExact: return -0.0
    case let other: throw syntax.error("\"$double\" expects \(expected), found \"\(other)\".")
    }
  }
}

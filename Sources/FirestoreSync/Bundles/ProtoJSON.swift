// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// google.firestore.v1 messages as proto3 JSON writes them.
struct ProtoJSON {
  let database: DatabaseID

  // MARK: Members

  func member(_ json: JSONSyntax, _ name: String) throws(JSONError) -> JSONSyntax {
    guard let value = json[name] else { throw json.error("Expected a member \"\(name)\".") }
    return value
  }

  func string(_ json: JSONSyntax) throws(JSONError) -> String {
    guard case .string(let text) = json.kind else { throw json.error("Expected a string, found \(json.kindName).") }
    return text
  }

  func string(_ json: JSONSyntax, _ name: String) throws(JSONError) -> String { try string(member(json, name)) }

  /// No elements where the member is absent, which is how proto3 writes an empty list.
  func array(_ json: JSONSyntax, _ name: String) throws(JSONError) -> [JSONSyntax] {
    guard let value = json[name] else { return [] }
    guard case .array(let elements) = value.kind else {
      throw value.error("Expected an array, found \(value.kindName).")
    }
    return elements
  }

  /// A number, or its digits in a string.
  func integer(_ json: JSONSyntax) throws(JSONError) -> Int64 {
    switch json.kind {
    case .integer(let integer): return integer
    case .string(let text):
      guard let integer = Int64(text) else { throw json.error("Expected an integer.") }
      return integer
    default: throw json.error("Expected an integer, found \(json.kindName).")
    }
  }

  /// 0 where the member is absent.
  func count(_ json: JSONSyntax, _ name: String) throws(JSONError) -> Int64 {
    guard let value = json[name] else { return 0 }
    return try integer(value)
  }

  private func double(_ json: JSONSyntax) throws(JSONError) -> Double {
    switch json.kind {
    case .integer(let integer): return Double(integer)
    case .double(let double): return double
    case .string("NaN"): return .nan
    case .string("Infinity"): return .infinity
    case .string("-Infinity"): return -.infinity
    default: throw json.error("Expected a number, found \(json.kindName).")
    }
  }

  private func timestamp(_ json: JSONSyntax) throws(JSONError) -> Timestamp {
    guard let timestamp = Timestamp(rfc3339: try string(json)) else { throw json.error("Expected an RFC 3339 time.") }
    return timestamp
  }

  func version(_ json: JSONSyntax, _ name: String) throws(JSONError) -> SnapshotVersion {
    SnapshotVersion(try timestamp(member(json, name)))
  }

  // MARK: Names and documents

  /// The path below the database's documents.
  func path(_ json: JSONSyntax) throws(JSONError) -> ResourcePath {
    let name = ResourcePath(try string(json))
    let root = ResourcePath(database.documentsName)
    guard root.isPrefix(of: name) else { throw json.error("Expected a name in \(database.name).") }
    return ResourcePath(segments: name.segments.dropFirst(root.count).map(String.init))
  }

  func key(_ json: JSONSyntax, _ name: String) throws(JSONError) -> DocumentKey {
    let value = try member(json, name)
    guard let key = DocumentKey(try path(value)) else { throw value.error("Expected the name of a document.") }
    return key
  }

  func document(_ json: JSONSyntax) throws(JSONError) -> Document {
    Document(
      key: try key(json, "name"), version: try version(json, "updateTime"),
      createTime: json["createTime"] == nil ? nil : try version(json, "createTime"),
      state: .found(DocumentData(try fields(json))))
  }

  // MARK: Values

  private func fields(_ json: JSONSyntax) throws(JSONError) -> Fields {
    var fields = Fields()
    guard let object = json["fields"] else { return fields }
    guard case .object(let members) = object.kind else {
      throw object.error("Expected an object, found \(object.kindName).")
    }
    for member in members { fields[member.name] = try value(member.value) }
    return fields
  }

  func value(_ json: JSONSyntax) throws(JSONError) -> Value {
    guard case .object(let members) = json.kind, members.count == 1 else {
      throw json.error("Expected an object with one member that names a type.")
    }
    let content = members[0].value
    switch members[0].name {
    case "nullValue": return .null
    case "booleanValue":
      guard case .boolean(let boolean) = content.kind else { throw content.error("Expected true or false.") }
      return .boolean(boolean)
    case "integerValue": return .integer(try integer(content))
    case "doubleValue": return .double(try double(content))
    case "timestampValue": return .timestamp(try timestamp(content))
    case "stringValue": return .string(try string(content))
    case "bytesValue":
      guard let bytes = Base64.decode(try string(content)) else { throw content.error("Expected base64.") }
      return .bytes(bytes)
    case "referenceValue": return try reference(content)
    case "geoPointValue":
      return .geoPoint(
        GeoPoint(
          latitude: try content["latitude"].map { json throws(JSONError) in try double(json) } ?? 0,
          longitude: try content["longitude"].map { json throws(JSONError) in try double(json) } ?? 0))
    case "arrayValue": return .array(try values(content))
    case "mapValue":
      let fields = try fields(content)
      return vector(fields).map { .vector($0) } ?? .map(fields)
    default: throw content.error("Unknown type \"\(members[0].name)\".")
    }
  }

  func values(_ json: JSONSyntax) throws(JSONError) -> [Value] {
    var values: [Value] = []
    for element in try array(json, "values") { values.append(try value(element)) }
    return values
  }

  /// A reference may lead to another database.
  private func reference(_ json: JSONSyntax) throws(JSONError) -> Value {
    let segments = ResourcePath(try string(json)).segments.map(String.init)
    guard segments.count > 5, segments[0] == "projects", segments[2] == "databases", segments[4] == "documents",
      let key = DocumentKey(ResourcePath(segments: segments.dropFirst(5)))
    else { throw json.error("Expected the name of a document.") }
    return .reference(DatabaseID(project: segments[1], database: segments[3]), key)
  }

  /// The numbers of a map that stands for a vector.
  private func vector(_ fields: Fields) -> [Double]? {
    guard case .string("__vector__")? = fields["__type__"], case .array(let elements)? = fields["value"] else {
      return nil
    }
    var numbers: [Double] = []
    for element in elements {
      guard case .double(let number) = element else { return nil }
      numbers.append(number)
    }
    return numbers
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// A document together with its path, in the format of Hearth or another tool's export.
struct DocumentEnvelope {
  /// The formats of exported documents.
  enum Form: Hashable {
    /// Hearth's format, `{"path": …, "data": {…}}`, with values in Hearth's formats.
    case own
    /// The format of firestore-backfire, in which lists such as `timestamps` give the fields' types. Also the format of
    /// Fuego, which has other member names.
    case listed
    /// The format `{"path": …, "data": "…"}`, in which the data is a string that contains JSON.
    case text
    /// The format of the REST interface, `{"name": …, "fields": {…}}`.
    case rest

    /// Whether the values have exact types, so that the import does not have to infer them.
    var isExact: Bool { self == .own || self == .rest }

    /// The name of the format in a note; `nil` for Hearth's format.
    var text: String? {
      switch self {
      case .own: nil
      case .listed: #"{"path", "data"} of another tool"#
      case .text: #"{"path", "data"} with data as a JSON string"#
      case .rest: #"{"name", "fields"} of the REST interface"#
      }
    }
  }

  let path: String
  let data: JSONSyntax
  let form: Form

  private static let ownNames: Set<String> = ["path", "data", "createTime", "updateTime", "pendingWrites"]
  private static let typeLists = ["timestamps", "geopoints", "documents", "queries"]

  /// Reads an envelope.
  /// - Parameter isLenient: whether the object may have other members besides the path and the data.
  /// - Returns: `nil` for a document without its path.
  /// - Throws: if the data is a string that is not valid JSON.
  init?(_ syntax: JSONSyntax, isLenient: Bool) throws(JSONError) {
    guard case .object(let members) = syntax.kind else { return nil }
    if let inner = syntax["document"] ?? syntax["found"], let wrapped = try Self.rest(inner) {
      self = wrapped
    } else if let document = try Self.rest(syntax) {
      self = document
    } else if let path = (syntax["path"] ?? syntax["document_name"] ?? syntax["Path"])?.string,
      let data = syntax["data"] ?? syntax["Data"]
    {
      self.path = Value(referenceName: path).flatMap(Self.path) ?? path
      let isListed = Self.typeLists.contains { syntax[$0] != nil }
      if let text = data.string {
        (self.data, form) = (try Self.parsed(text, at: data), .text)
        guard isLenient || self.data.isObject else { return nil }
      } else {
        let isOwn = syntax["path"] != nil && members.allSatisfy { Self.ownNames.contains($0.name) }
        guard isLenient || (isOwn || isListed || syntax["path"] == nil) && data.isObject else { return nil }
        (self.data, form) = (data, isOwn ? .own : .listed)
      }
    } else {
      return nil
    }
  }

  private init(path: String, data: JSONSyntax, form: Form) { (self.path, self.data, self.form) = (path, data, form) }

  /// Whether a value is a document together with its path.
  static func isOne(_ syntax: JSONSyntax) -> Bool { ((try? DocumentEnvelope(syntax, isLenient: false)) ?? nil) != nil }

  /// Whether a value is a part of a REST response that has no document.
  static func isEmpty(_ syntax: JSONSyntax) -> Bool {
    guard case .object(let members) = syntax.kind, !members.isEmpty else { return false }
    let names: Set<String> = ["readTime", "transaction", "skippedResults", "missing", "done"]
    return members.allSatisfy { names.contains($0.name) } && (syntax["readTime"] ?? syntax["transaction"]) != nil
  }

  private static func path(_ reference: Value) -> String? {
    if case .reference(_, let key) = reference { key.path.text } else { nil }
  }

  private static func parsed(_ text: String, at place: JSONSyntax) throws(JSONError) -> JSONSyntax {
    do throws(JSONError) {
      var value = try JSONSyntax(parsing: text)
      (value.line, value.column) = (place.line, place.column)
      return value
    } catch {
      throw place.error("The data in the string is not JSON: \(error.reason)")
    }
  }

  private static func rest(_ syntax: JSONSyntax) throws(JSONError) -> DocumentEnvelope? {
    guard let name = syntax["name"]?.string, case .reference(let database, let key)? = Value(referenceName: name),
      case .object(let members) = syntax.kind,
      members.allSatisfy({ ["name", "fields", "createTime", "updateTime"].contains($0.name) })
    else { return nil }
    let fields = syntax["fields"] ?? JSONSyntax(.object([]), line: syntax.line, column: syntax.column)
    let data = try RESTValues(database: database).map(of: fields)
    return DocumentEnvelope(path: key.path.text, data: data, form: .rest)
  }
}

/// Converts values of the REST interface (`{"integerValue": "5"}`) to Hearth's JSON.
struct RESTValues {
  /// The database that contains the document. References into this database are changed to the database of the import.
  let database: DatabaseID

  func map(of fields: JSONSyntax) throws(JSONError) -> JSONSyntax {
    guard case .object(let members) = fields.kind else {
      throw fields.error("Expected \"fields\" to be an object, found \(fields.kindName).")
    }
    var converted: [JSONSyntax.Member] = []
    for member in members { converted.append(JSONSyntax.Member(member.name, try value(member.value))) }
    return JSONSyntax(.object(converted), line: fields.line, column: fields.column)
  }

  private func value(_ syntax: JSONSyntax) throws(JSONError) -> JSONSyntax {
    guard case .object(let members) = syntax.kind, members.count == 1 else {
      throw syntax.error("Expected one typed value such as {\"stringValue\": …}, found \(syntax.kindName).")
    }
    var result = try value(members[0].name, members[0].value)
    (result.line, result.column) = (syntax.line, syntax.column)
    return result
  }

  private func value(_ type: String, _ content: JSONSyntax) throws(JSONError) -> JSONSyntax {
    switch type {
    case "nullValue": return JSONSyntax(.null)
    case "booleanValue", "stringValue": return content
    case "integerValue":
      if case .integer = content.kind { return content }
      guard let number = content.string.flatMap({ Int64($0) }) else {
        throw content.error("\"integerValue\" expects a 64-bit integer.")
      }
      return JSONSyntax(.integer(number))
    case "doubleValue":
      if case .integer(let number) = content.kind { return JSONSyntax(.double(Double(number))) }
      return content.string == nil ? content : ForeignValues.typed("$double", content)
    case "timestampValue": return ForeignValues.typed("$timestamp", content)
    case "bytesValue": return ForeignValues.typed("$bytes", content)
    case "referenceValue":
      guard case .reference(database, let key)? = content.string.flatMap({ Value(referenceName: $0) }) else {
        return ForeignValues.typed("$ref", content)
      }
      return ForeignValues.typed("$ref", JSONSyntax(.string(key.path.text)))
    case "geoPointValue":
      let zero = JSONSyntax(.double(0))
      return ForeignValues.typed(
        "$geo", JSONSyntax(.array([content["latitude"] ?? zero, content["longitude"] ?? zero])))
    case "arrayValue": return try array(content)
    case "mapValue":
      if content["fields"]?["__type__"]?["stringValue"]?.string == "__vector__",
        let values = content["fields"]?["value"]?["arrayValue"]
      {
        return ForeignValues.typed("$vector", try array(values))
      }
      let map = try map(of: content["fields"] ?? JSONSyntax(.object([])))
      return ForeignValues.typed("$map", map)
    default: throw content.error("\"\(type)\" is not a type of the REST interface.")
    }
  }

  private func array(_ content: JSONSyntax) throws(JSONError) -> JSONSyntax {
    guard case .array(let elements) = (content["values"] ?? JSONSyntax(.array([]))).kind else {
      throw content.error("\"arrayValue\" expects \"values\" to be an array.")
    }
    var values: [JSONSyntax] = []
    for element in elements { values.append(try value(element)) }
    return JSONSyntax(.array(values), line: content.line, column: content.column)
  }
}

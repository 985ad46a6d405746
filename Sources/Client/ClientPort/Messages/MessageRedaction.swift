// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreProtoJSON

/// Hides values in the content of messages. The message schemas determine whether a string is a value, a name or a
/// token. Content without a schema and values of unknown fields are also hidden.
struct MessageRedaction {
  private let redaction: Redaction

  init(_ redaction: Redaction) { self.redaction = redaction }

  /// The content without hidden values; `nil` for content of an unknown type.
  func redacted(_ content: MessageContent) -> JSONSyntax? {
    guard let schema = content.schema, let json = content.json else { return nil }
    if case .array(let messages) = json.kind { return JSONSyntax(.array(messages.map { message($0, schema) })) }
    return message(json, schema)
  }

  /// Whether the value of a field is hidden because of a name in its path.
  private func hides(_ segments: [String]) -> Bool {
    let isHidden = redaction.hides(FieldPath(segments: segments))
    if let name = segments.last { redaction.account.meet(name, isHidden: isHidden) }
    if segments.count > 1 { redaction.account.meet(segments.joined(separator: "."), isHidden: isHidden) }
    return isHidden
  }

  /// Whether to hide the values of unknown fields, which is the case if any field is hidden.
  private var hidesUnnamed: Bool { !redaction.names.isEmpty }

  // MARK: Messages

  private func message(_ json: JSONSyntax, _ schema: MessageSchema) -> JSONSyntax {
    guard case .object(let members) = json.kind else { return JSONSyntax(.null) }
    let field = fieldPath(of: json, schema)
    return JSONSyntax(
      .object(
        members.compactMap { member in
          guard let known = schema.field(named: member.name) else { return nil }
          return content(member.value, known, of: schema, at: field).map { JSONSyntax.Member(member.name, $0) }
        }))
  }

  /// The field to which the values in a message belong. The message is a condition, a transform or a nearest-vector
  /// search.
  private func fieldPath(of json: JSONSyntax, _ schema: MessageSchema) -> [String]? {
    let text: JSONSyntax? =
      switch schema.shortName {
      case "FieldFilter": json["field"]?["fieldPath"]
      case "FindNearest": json["vectorField"]?["fieldPath"]
      case "FieldTransform": json["fieldPath"]
      default: nil
      }
    guard case .string(let name)? = text?.kind, let path = try? FieldPath(canonicalText: name) else { return nil }
    return path.segments
  }

  private func content(
    _ json: JSONSyntax, _ field: FieldSchema, of schema: MessageSchema, at path: [String]?
  ) -> JSONSyntax? {
    switch (field.count, json.kind) {
    case (.list, .array(let elements)):
      return JSONSyntax(.array(elements.compactMap { single($0, field, at: path) }))
    case (.map, .object(let members)):
      // The results of an aggregation have aliases, which are not field names.
      let isNamed = schema.shortName != "AggregationResult"
      return JSONSyntax(
        .object(
          members.compactMap { member in
            single(member.value, field, at: isNamed ? (path ?? []) + [member.name] : nil)
              .map { JSONSyntax.Member(member.name, $0) }
          }))
    case (.one, _): return single(json, field, at: path)
    default: return nil
    }
  }

  private func single(_ json: JSONSyntax, _ field: FieldSchema, at path: [String]?) -> JSONSyntax? {
    switch field.kind {
    case .message(let schema):
      switch schema().shortName {
      case "Value": return value(json, at: path)
      case "ArrayValue": return array(json, at: path)
      default: return message(json, schema())
      }
    case .string: return string(json, field)
    // Omits tokens. Also omits other bytes, such as a bloom filter, with which a reader could test for names.
    case .bytes, .structure: return nil
    case .boolean, .int32, .int64, .double, .null, .enumeration, .timestamp, .duration, .wrapper: return json
    }
  }

  /// The redacted text of a string field that contains a name or a message, not a Firestore value; `nil` if the field
  /// must be omitted.
  private func string(_ json: JSONSyntax, _ field: FieldSchema) -> JSONSyntax? {
    guard case .string(let content) = json.kind else { return nil }
    switch field.name {
    case "name", "document", "documents", "delete", "verify", "missing", "parent": return name(content)
    case "database", "field_path", "field_paths", "collection_id", "collection_ids", "alias", "labels", "stream_id",
      "distance_result_field":
      return json
    case "message": return JSONSyntax(.string(redaction.text(content)))
    default: return nil
    }
  }

  /// The name of a document, with redacted ids.
  private func name(_ text: String) -> JSONSyntax {
    let root = "/documents/"
    guard let place = text.firstRange(of: root) else { return JSONSyntax(.string(text)) }
    let shown = redaction.path(ResourcePath(String(text[place.upperBound...])))
    return JSONSyntax(.string(text[..<place.upperBound] + shown.text))
  }

  // MARK: Values

  /// - Parameter path: the path of the value's field; `nil` if unknown.
  private func value(_ json: JSONSyntax, at path: [String]?) -> JSONSyntax {
    guard case .object(let members) = json.kind, let member = members.first else { return json }
    if member.name == "referenceValue", path == nil, case .string(let text) = member.value.kind {
      return JSONSyntax(.object([.init(member.name, name(text))]))
    }
    if path.map(hides) ?? hidesUnnamed { return hidden(member) }
    let shown: JSONSyntax
    switch member.name {
    case "mapValue": shown = map(member.value, at: path)
    case "arrayValue": shown = array(member.value, at: path)
    case "referenceValue":
      guard case .string(let text) = member.value.kind else { return hidden(member) }
      shown = name(text)
    case "nullValue", "booleanValue", "integerValue", "doubleValue", "timestampValue", "stringValue", "bytesValue",
      "geoPointValue":
      shown = member.value
    // Hides pipeline expressions, because they contain values.
    default: return hidden(member)
    }
    return JSONSyntax(.object([.init(member.name, shown)]))
  }

  private func map(_ json: JSONSyntax, at path: [String]?) -> JSONSyntax {
    guard case .object(let fields)? = json["fields"]?.kind else { return JSONSyntax(.object([])) }
    let shown = fields.map { field in
      JSONSyntax.Member(field.name, value(field.value, at: path.map { $0 + [field.name] }))
    }
    return JSONSyntax(.object([.init("fields", JSONSyntax(.object(shown)))]))
  }

  private func array(_ json: JSONSyntax, at path: [String]?) -> JSONSyntax {
    if path.map(hides) ?? hidesUnnamed { return JSONSyntax(.object([])) }
    guard case .array(let elements)? = json["values"]?.kind else { return JSONSyntax(.object([])) }
    return JSONSyntax(.object([.init("values", JSONSyntax(.array(elements.map { value($0, at: path) })))]))
  }

  /// The text that replaces a value: its type and, for a string, its length.
  private func hidden(_ member: JSONSyntax.Member) -> JSONSyntax {
    var name = member.name.hasSuffix("Value") ? String(member.name.dropLast("Value".count)) : member.name
    switch member.value.kind {
    case .string(let text) where name == "string": name += " \(text.count)"
    default: if name == "geoPoint" { name = "geo point" }
    }
    return JSONSyntax(.object([.init("stringValue", JSONSyntax(.string("‹\(name)›")))]))
  }
}

extension MessageSchema {
  /// The name of the message within google.firestore.v1.
  fileprivate var shortName: String { String(name.split(separator: ".").last ?? "") }
}

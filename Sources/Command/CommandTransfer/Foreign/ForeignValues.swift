// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// Converts JSON values of other tools to Hearth's formats, and counts the recognized values.
///
/// Objects that no Firestore document can contain (`{"__datatype__": …}`) are always converted, and so is MongoDB's
/// `{"$date": …}`. Objects that could be maps (`{"_seconds": …, "_nanoseconds": …}`) are also converted, except in
/// Hearth's own exports. `--types` overrides both rules.
struct ForeignValues {
  /// The types of fields that the user has given. In an array of maps, the path of a field does not contain the array
  /// index.
  let types: [FieldPath: ColumnType]
  /// Whether objects that could be maps remain maps.
  let isOwn: Bool
  let database: DatabaseID
  private(set) var recognized = RecognizedForms()

  init(types: [FieldPath: ColumnType], isOwn: Bool, database: DatabaseID) {
    (self.types, self.isOwn, self.database) = (types, isOwn, database)
  }

  static func typed(_ name: String, _ content: JSONSyntax) -> JSONSyntax {
    JSONSyntax(.object([JSONSyntax.Member(name, content)]), line: content.line, column: content.column)
  }

  /// The fields of a document in Hearth's formats.
  mutating func document(_ syntax: JSONSyntax) throws(JSONError) -> JSONSyntax {
    guard case .object(let members) = syntax.kind, !types.isEmpty || Self.hasCandidates(syntax) else { return syntax }
    return JSONSyntax(.object(try converted(members, at: [])), line: syntax.line, column: syntax.column)
  }

  private mutating func converted(
    _ members: [JSONSyntax.Member], at path: [String]
  ) throws(JSONError) -> [JSONSyntax.Member] {
    var result: [JSONSyntax.Member] = []
    for member in members {
      result.append(JSONSyntax.Member(member.name, try value(member.value, at: path + [member.name])))
    }
    return result
  }

  private mutating func value(_ syntax: JSONSyntax, at path: [String]) throws(JSONError) -> JSONSyntax {
    if let type = types.isEmpty ? nil : types[FieldPath(segments: path)] {
      recognized.noteTyped(FieldPath(segments: path))
      return try type.value(syntax, at: path.joined(separator: "."), in: database)
    }
    switch syntax.kind {
    case .array(let elements):
      var values: [JSONSyntax] = []
      for element in elements { values.append(try value(element, at: path)) }
      return JSONSyntax(.array(values), line: syntax.line, column: syntax.column)
    case .object(let members):
      if let found = try ForeignObject(members, of: syntax) {
        guard !isOwn || !found.isPossibleMap else {
          recognized.addLeft(found.form, found.type, at: path)
          break
        }
        recognized.add(found.form, found.type, at: path)
        var value = found.value
        (value.line, value.column) = (syntax.line, syntax.column)
        return value
      }
      // Hearth's own type objects are complete.
      if members.count == 1, members[0].name.utf8.first == UInt8(ascii: "$"), members[0].name != "$map" {
        return syntax
      }
      if members.count == 1, members[0].name == "$map", case .object(let inner) = members[0].value.kind {
        let map = JSONSyntax(.object(try converted(inner, at: path)), line: syntax.line, column: syntax.column)
        return Self.typed("$map", map)
      }
      if members.count == 2, syntax["latitude"] != nil, syntax["longitude"] != nil {
        recognized.addLeft(#"{"latitude", "longitude"}"#, .geo, at: path)
      }
      return JSONSyntax(.object(try converted(members, at: path)), line: syntax.line, column: syntax.column)
    default: break
    }
    return syntax
  }

  /// Whether a value contains an object that another tool could have written. Checks only the names of members.
  private static func hasCandidates(_ syntax: JSONSyntax) -> Bool {
    switch syntax.kind {
    case .array(let elements): elements.contains(where: hasCandidates)
    case .object(let members):
      members.contains { member in
        let first = member.name.utf8.first
        return first == UInt8(ascii: "_") || first == UInt8(ascii: "$") || member.name == "seconds"
          || member.name == "type" || member.name == "latitude" || hasCandidates(member.value)
      }
    default: false
    }
  }
}

/// The formats of other tools that an import recognized. Each has its count, and the first field in which it occurred.
package struct RecognizedForms: Hashable, Sendable {
  private struct Form: Hashable {
    var text: String
    var type: ColumnType?
    var isLeft: Bool
  }

  private var counts: [Form: (count: Int, example: String)] = [:]
  /// The fields in `--types` that occur in documents.
  private(set) var typed: Set<FieldPath> = []

  package init() {}

  mutating func add(_ text: String, _ type: ColumnType?, at path: [String]) {
    add(Form(text: text, type: type, isLeft: false), 1, path.joined(separator: "."))
  }

  /// Counts an object that was not converted and remains a map.
  mutating func addLeft(_ text: String, _ type: ColumnType, at path: [String]) {
    add(Form(text: text, type: type, isLeft: true), 1, path.joined(separator: "."))
  }

  mutating func noteTyped(_ path: FieldPath) { typed.insert(path) }

  private mutating func add(_ form: Form, _ count: Int, _ example: String) {
    counts[form, default: (0, example)].count += count
  }

  mutating func merge(_ other: RecognizedForms) {
    for (form, found) in other.counts { add(form, found.count, found.example) }
    typed.formUnion(other.typed)
  }

  package static func == (one: RecognizedForms, other: RecognizedForms) -> Bool { one.lines == other.lines }

  package func hash(into hasher: inout Hasher) { hasher.combine(lines) }

  /// One line for each format, such as `read as timestamp: 9 objects {"_seconds", "_nanoseconds"}, such as joined.`
  package var lines: [String] {
    counts.sorted { ($0.key.isLeft ? 1 : 0, $0.key.text) < ($1.key.isLeft ? 1 : 0, $1.key.text) }.map { form, found in
      let number = found.count == 1 ? "1 object" : "\(found.count) objects"
      guard let type = form.type else { return "read: \(number) \(form.text)." }
      if form.isLeft {
        return "left as map: \(number) \(form.text), such as \(found.example). "
          + "For type \(type.rawValue), add --types \(found.example)=\(type.rawValue)."
      }
      return "read as \(type.rawValue): \(number) \(form.text), such as \(found.example)."
    }
  }
}

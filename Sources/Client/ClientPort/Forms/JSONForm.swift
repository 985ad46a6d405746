// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel

// The JSON form of client requests and events. It is the wire format of `hearth attach`, of recordings, and of every
// `--json`. Each type lists its members once, and the same list both writes and reads them.

/// A type whose values have exactly one JSON form.
///
/// `String` intentionally does not conform. Each string must be declared as a fixed word, as free text or as user
/// content, so that redaction treats each one correctly.
package protocol JSONFormed {
  /// The JSON form of the value, without the parts that the context's redaction hides.
  func json(_ context: JSONContext) -> JSONSyntax
  /// Reads the value from its JSON form.
  init(json: JSONSyntax, _ context: JSONContext) throws(JSONError)
}

/// The database and the redaction that determine a JSON form.
package struct JSONContext: Sendable {
  /// The database whose references are written as paths. If it is `nil`, all references are written as full names.
  package var database: DatabaseID?
  /// The redaction that hides values during writing; `nil` to write everything.
  package var redaction: Redaction?

  package init(_ database: DatabaseID? = nil, redaction: Redaction? = nil) {
    self.database = database
    self.redaction = redaction
  }

  /// The database of references that are read as paths. If `database` is `nil`, all references have full names, so this
  /// database is not used and has an empty name.
  var readDatabase: DatabaseID { database ?? DatabaseID(project: "") }
}

/// A value whose JSON form is an object that always has the same members.
package protocol JSONRecord: JSONFormed {
  /// Lists the members, both for writing and for reading. For writing, `it` is the value. For reading, `it` is `nil`
  /// and the form returns the members.
  static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self
}

/// A value whose JSON form is an object with a member `type` and the members for this type.
package protocol JSONUnion: JSONFormed {
  /// Writes the members of the value into the object.
  /// - Returns: the value of the member `type`.
  func write(_ form: inout JSONForm) throws(JSONError) -> String
  /// Reads the members for a type from the object.
  /// - Returns: `nil` if the type is unknown.
  static func read(_ type: String, _ form: inout JSONForm) throws(JSONError) -> Self?
}

/// The members of one JSON object that is being written or read.
package struct JSONForm {
  package let context: JSONContext
  /// The JSON object that is read; `nil` while writing.
  private let source: JSONSyntax?
  private var members: [JSONSyntax.Member] = []

  fileprivate init(_ context: JSONContext, reading source: JSONSyntax? = nil) {
    self.context = context
    self.source = source
  }

  fileprivate var object: JSONSyntax { JSONSyntax(.object(members)) }
  private var redaction: Redaction? { context.redaction }

  // MARK: Members

  /// Reads or writes a required member.
  @discardableResult
  package mutating func callAsFunction<V: JSONFormed>(_ name: String, _ value: V? = nil) throws(JSONError) -> V {
    guard let source else { return add(name, value) { [context] in $0.json(context) } }
    guard let json = source[name] else { throw source.error("\"\(name)\" is missing.") }
    return try V(json: json, context)
  }

  /// Reads or writes a member that is omitted if it has no value.
  @discardableResult
  package mutating func optional<V: JSONFormed>(_ name: String, _ value: V? = nil) throws(JSONError) -> V? {
    guard let source else {
      guard let value else { return nil }
      return add(name, value) { [context] in $0.json(context) }
    }
    guard let json = source[name], !json.isNull else { return nil }
    return try V(json: json, context)
  }

  /// Reads or writes a number that can be negative, such as an offset or a position. `Int` itself is written as a
  /// count, which cannot be negative.
  @discardableResult
  package mutating func signed(_ name: String, _ value: Int? = nil) throws(JSONError) -> Int {
    Int(try self(name, value.map { Int32(clamping: $0) }) as Int32)
  }

  /// Reads or writes a word that comes from the program or its configuration. Redaction never hides such a word.
  @discardableResult
  package mutating func word(_ name: String, _ value: String? = nil) throws(JSONError) -> String {
    try string(name, value) { $0 }
  }

  @discardableResult
  package mutating func optionalWord(_ name: String, _ value: String? = nil) throws(JSONError) -> String? {
    guard isPresent(name, value) else { return nil }
    return try word(name, value)
  }

  /// Reads or writes a sentence. Redaction hides the quoted parts of the sentence, or the whole sentence.
  @discardableResult
  package mutating func text(_ name: String, _ value: String? = nil) throws(JSONError) -> String {
    try string(name, value) { [redaction] in redaction?.text($0) ?? $0 }
  }

  @discardableResult
  package mutating func optionalText(_ name: String, _ value: String? = nil) throws(JSONError) -> String? {
    guard isPresent(name, value) else { return nil }
    return try text(name, value)
  }

  /// Reads or writes a text that is user data. Redaction always replaces it with its kind and length.
  @discardableResult
  package mutating func content(_ name: String, _ value: String? = nil, as kind: String) throws(JSONError) -> String {
    try string(name, value) { [redaction] in redaction?.hidden($0, kind) ?? $0 }
  }

  @discardableResult
  package mutating func optionalContent(
    _ name: String, _ value: String? = nil, as kind: String
  ) throws(JSONError) -> String? {
    guard isPresent(name, value) else { return nil }
    return try content(name, value, as: kind)
  }

  /// Reads or writes the name of a user. Redaction hides the name if it hides all values.
  @discardableResult
  package mutating func user(_ name: String, _ value: String? = nil) throws(JSONError) -> String? {
    guard isPresent(name, value) else { return nil }
    return try string(name, value) { [redaction] in
      guard let redaction, redaction.isAll else { return $0 }
      return redaction.hidden($0, "user")
    }
  }

  @discardableResult
  package mutating func texts(_ name: String, _ value: [String]? = nil) throws(JSONError) -> [String] {
    guard let source else {
      let texts = value ?? []
      members.append(.init(name, JSONSyntax(.array(texts.map { .init(.string(redaction?.text($0) ?? $0)) }))))
      return texts
    }
    guard case .array(let elements)? = source[name]?.kind else { throw source.error("\"\(name)\" must be a list.") }
    return try elements.map { element throws(JSONError) in try element.text() }
  }

  /// Reads or writes the value of a field.
  @discardableResult
  package mutating func value(_ name: String, _ value: Value?, at path: FieldPath) throws(JSONError) -> Value? {
    guard let source else {
      guard let value else { return nil }
      let shown = redaction?.value(value, at: path) ?? value
      members.append(.init(name, DocumentJSON.exact(shown, relativeTo: context.database)))
      return value
    }
    guard let json = source[name] else { return nil }
    return try DocumentJSON.exactValue(of: json, database: context.readDatabase)
  }

  /// Reads or writes the values of a field; `path` is `nil` if the field is unknown.
  package mutating func values(_ name: String, _ values: [Value]?, at path: FieldPath?) throws(JSONError) -> [Value] {
    guard let source else {
      let values = values ?? []
      let shown = values.map { value in
        path.map { redaction?.value(value, at: $0) ?? value } ?? redaction?.value(value) ?? value
      }
      members.append(
        .init(name, JSONSyntax(.array(shown.map { DocumentJSON.exact($0, relativeTo: context.database) }))))
      return values
    }
    guard case .array(let elements)? = source[name]?.kind else { throw source.error("\"\(name)\" must be a list.") }
    return try elements.map { [context] element throws(JSONError) in
      try DocumentJSON.exactValue(of: element, database: context.readDatabase)
    }
  }

  /// Reads or writes JSON that another program has already redacted.
  package mutating func optionalSyntax(_ name: String, _ json: JSONSyntax? = nil) -> JSONSyntax? {
    guard let source else {
      if let json { members.append(.init(name, json)) }
      return json
    }
    return source[name].flatMap { $0.isNull ? nil : $0 }
  }

  // MARK: Parts

  /// Reads or writes the members of a record directly in this object.
  @discardableResult
  package mutating func members<V: JSONRecord>(of value: V? = nil) throws(JSONError) -> V { try V.form(&self, value) }

  /// Creates an error that reports the object's position.
  package func error(_ reason: String) -> JSONError {
    source?.error(reason) ?? JSONError(line: 0, column: 0, reason: reason)
  }

  private mutating func add<V>(_ name: String, _ value: V?, _ json: (V) -> JSONSyntax) -> V {
    guard let value else { preconditionFailure("\(name) is written without a value.") }
    members.append(.init(name, json(value)))
    return value
  }

  private mutating func string(
    _ name: String, _ value: String?, _ shown: (String) -> String
  ) throws(JSONError) -> String {
    guard let source else { return add(name, value) { JSONSyntax(.string(shown($0))) } }
    guard let json = source[name] else { throw source.error("\"\(name)\" is missing.") }
    return try json.text()
  }

  private func isPresent(_ name: String, _ value: String?) -> Bool {
    source.map { $0[name].map { !$0.isNull } ?? false } ?? (value != nil)
  }
}

extension JSONRecord {
  package func json(_ context: JSONContext) -> JSONSyntax {
    JSONForm.object(context) { form throws(JSONError) in _ = try Self.form(&form, self) }
  }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    guard case .object = json.kind else { throw json.error("Expected an object, found \(json.kindName).") }
    var form = JSONForm(context, reading: json)
    self = try Self.form(&form, nil)
  }
}

extension JSONUnion {
  package func json(_ context: JSONContext) -> JSONSyntax {
    var type = ""
    let object = JSONForm.object(context) { form throws(JSONError) in type = try write(&form) }
    guard case .object(let members) = object.kind else { return object }
    return JSONSyntax(.object([.init("type", JSONSyntax(.string(type)))] + members))
  }

  package init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
    guard let type = json["type"] else { throw json.error("Expected an object with a \"type\".") }
    var form = JSONForm(context, reading: json)
    guard let value = try Self.read(try type.text(), &form) else {
      throw type.error("Unknown type \"\(try type.text())\".")
    }
    self = value
  }
}

extension JSONForm {
  /// The written object. Writing cannot fail, so this function does not throw.
  fileprivate static func object(
    _ context: JSONContext, _ write: (inout JSONForm) throws(JSONError) -> Void
  ) -> JSONSyntax {
    var form = JSONForm(context)
    do throws(JSONError) { try write(&form) } catch { preconditionFailure(error.reason) }
    return form.object
  }
}

extension JSONSyntax {
  package var isNull: Bool { if case .null = kind { true } else { false } }

  package func text() throws(JSONError) -> String {
    guard case .string(let text) = kind else { throw error("Expected a string, found \(kindName).") }
    return text
  }
}

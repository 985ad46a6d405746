// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The input of one field's value: the typed text and the type.
package struct FieldEntry: Sendable {
  /// The result of parsing the text.
  package enum Outcome: Equatable, Sendable {
    case value(Value)
    case transform(FieldTransform.Operation)
    case deletion
    case wrong(FieldTextError)
  }

  /// The maximum length of typed text in characters. Longer text needs a text editor.
  package static let longest = 20_000

  package let path: [String]
  package private(set) var kind: FieldKind
  package private(set) var outcome: Outcome
  /// The typed text. It is also stored for types that need no text.
  package private(set) var text: TextField
  /// The initial text.
  private let original: String
  private let database: DatabaseID
  private let isInArray: Bool
  /// Whether the type is inferred from the text, as in `hearth set`. This is so until you choose a type.
  package private(set) var infersKind: Bool

  /// - Parameters:
  ///   - isInArray: whether the field is an array element. An element cannot be an array, a vector or a transform.
  ///   - infersKind: whether the type is inferred from the text.
  package init(
    _ path: [String], _ kind: FieldKind, text: String, isInArray: Bool, infersKind: Bool = false,
    in database: DatabaseID
  ) {
    self.path = path
    self.infersKind = infersKind
    self.kind = kind
    self.text = TextField(text, longest: Self.longest, keepsLines: true).selected()
    original = text
    self.isInArray = isInArray
    self.database = database
    outcome = .deletion
    read()
  }

  /// The text field; `nil` for a type that needs no text. The text is parsed after every change.
  package var field: TextField? {
    get { kind.takesText ? text : nil }
    set {
      guard let newValue else { return }
      text = newValue
      read()
    }
  }

  /// Changes the type and keeps the typed text. An unchanged text is replaced if the change is between a value and a
  /// transform. An empty text becomes the most common text of the type.
  package mutating func change(to new: FieldKind, now: Timestamp) {
    let isOther = kind.isTransform != new.isTransform && text.text.equalsUTF8(original)
    kind = new
    infersKind = false
    if text.isEmpty || isOther {
      let start =
        switch new {
        case .timestamp: now.rfc3339Text
        case .map: "{}"
        case .array, .arrayUnion, .arrayRemove: "[]"
        case .boolean: "false"
        case .increment: "1"
        default: ""
        }
      text = TextField(start, longest: Self.longest, keepsLines: true).selected()
    }
    read()
  }

  /// The reason why the input is invalid, with the position of the error.
  package var problem: String? {
    if case .wrong(let error) = outcome { error.message(in: text.text) } else { nil }
  }

  private mutating func read() {
    do throws(FieldTextError) { outcome = try result() } catch { outcome = .wrong(error) }
  }

  private mutating func result() throws(FieldTextError) -> Outcome {
    if infersKind { return .value(try inferred()) }
    return try result(as: kind)
  }

  /// The value of a text whose type is inferred. The inferred type becomes the type of the input.
  private mutating func inferred() throws(FieldTextError) -> Value {
    let value = try FieldText.value(text.text, in: database)
    kind = FieldKind(value)
    if isInArray, kind == .array || kind == .vector { throw Self.nested(kind) }
    try check(value)
    return value
  }

  private static func nested(_ kind: FieldKind) -> FieldTextError {
    FieldTextError("an array must not contain \(kind == .array ? "an array" : "a vector")")
  }

  private func check(_ value: Value) throws(FieldTextError) {
    do throws(ModelError) { try value.validateForWrite(at: FieldPath(segments: path)) } catch {
      // The message need not name the field, which is shown next to it.
      let reason = error.message.ranges(of: " is invalid: ").first.map { String(error.message[$0.upperBound...]) }
      throw FieldTextError(reason ?? error.message)
    }
  }

  private func result(as kind: FieldKind) throws(FieldTextError) -> Outcome {
    if isInArray, kind.isTransform { throw FieldTextError("the server computes fields, not elements of arrays") }
    if isInArray, kind == .array || kind == .vector { throw Self.nested(kind) }
    if kind == .delete { return .deletion }
    let value = try FieldText.value(text.text, kind, in: database)
    try check(value)
    switch kind {
    case .serverTimestamp: return .transform(.serverTimestamp)
    case .increment: return .transform(.increment(value))
    case .maximum: return .transform(.maximum(value))
    case .minimum: return .transform(.minimum(value))
    case .arrayUnion: return .transform(.arrayUnion(value.elements))
    case .arrayRemove: return .transform(.arrayRemove(value.elements))
    default: return .value(value)
    }
  }
}

extension Value {
  fileprivate var elements: [Value] { if case .array(let values) = self { values } else { [] } }
}

extension FieldTransform.Operation {
  /// The operand of the transform as text.
  func operandText(in database: DatabaseID) -> String {
    switch self {
    case .serverTimestamp: ""
    case .increment(let value), .minimum(let value), .maximum(let value): FieldText.text(of: value, in: database)
    case .arrayUnion(let values), .arrayRemove(let values): FieldText.text(of: .array(values), in: database)
    }
  }
}

/// A kind of field content: a value of a type, a transform, or no value.
package enum FieldKind: CaseIterable, Hashable, Sendable {
  case string, integer, double, boolean, null, timestamp, map, array, reference, geoPoint, bytes, vector
  case serverTimestamp, increment, maximum, minimum, arrayUnion, arrayRemove
  case delete

  package init(_ value: Value) {
    self =
      switch value {
      case .null: .null
      case .boolean: .boolean
      case .integer: .integer
      case .double: .double
      case .timestamp: .timestamp
      case .serverTimestamp: .serverTimestamp
      case .string: .string
      case .bytes: .bytes
      case .reference: .reference
      case .geoPoint: .geoPoint
      case .array: .array
      case .vector: .vector
      case .map: .map
      }
  }

  package init(_ operation: FieldTransform.Operation) {
    self =
      switch operation {
      case .serverTimestamp: .serverTimestamp
      case .increment: .increment
      case .minimum: .minimum
      case .maximum: .maximum
      case .arrayUnion: .arrayUnion
      case .arrayRemove: .arrayRemove
      }
  }

  package var title: String {
    switch self {
    case .string: "string"
    case .integer: "integer"
    case .double: "double"
    case .boolean: "boolean"
    case .null: "null"
    case .timestamp: "timestamp"
    case .map: "map"
    case .array: "array"
    case .reference: "reference"
    case .geoPoint: "geo point"
    case .bytes: "bytes"
    case .vector: "vector"
    case .serverTimestamp: "server time"
    case .increment: "increment"
    case .maximum: "maximum"
    case .minimum: "minimum"
    case .arrayUnion: "array union"
    case .arrayRemove: "array remove"
    case .delete: "no field"
    }
  }

  /// An abbreviated name for columns that are 4 wide.
  package var short: String {
    switch self {
    case .string: "str"
    case .integer: "int"
    case .double: "dbl"
    case .boolean: "bool"
    case .null: "null"
    case .timestamp: "time"
    case .map: "map"
    case .array: "arr"
    case .reference: "ref"
    case .geoPoint: "geo"
    case .bytes: "byte"
    case .vector: "vec"
    case .serverTimestamp: "now"
    case .increment: "incr"
    case .maximum: "max"
    case .minimum: "min"
    case .arrayUnion: "unio"
    case .arrayRemove: "remo"
    case .delete: "none"
    }
  }

  /// The letter of the key that chooses the kind.
  package var letter: Character {
    switch self {
    case .string: "s"
    case .integer: "i"
    case .double: "d"
    case .boolean: "b"
    case .null: "n"
    case .timestamp: "t"
    case .map: "m"
    case .array: "a"
    case .reference: "r"
    case .geoPoint: "g"
    case .bytes: "y"
    case .vector: "v"
    case .serverTimestamp: "T"
    case .increment: "+"
    case .maximum: ">"
    case .minimum: "<"
    case .arrayUnion: "A"
    case .arrayRemove: "R"
    case .delete: "x"
    }
  }

  /// An example of the text. For a kind without text, its effect.
  package var example: String {
    switch self {
    case .string: "any text"
    case .integer: "42"
    case .double: "18.5, -0.0, NaN, inf, -inf"
    case .boolean: "true or false"
    case .null: "the value null"
    case .timestamp: "2026-03-02T11:58:03.120Z"
    case .map: "{\"city\": \"Delft\"}"
    case .array: "[1, \"two\"]"
    case .reference: "users/ada"
    case .geoPoint: "52.37, 4.89"
    case .bytes: "aGVhcnRo (base64) or hex:00ff"
    case .vector: "[0.5, 1.0]"
    case .serverTimestamp: "when the server applies the write"
    case .increment: "by 1, or -0.5"
    case .maximum: "the larger of the field and 10"
    case .minimum: "the smaller of the field and 10"
    case .arrayUnion: "[\"a\"] is added if it is missing"
    case .arrayRemove: "[\"a\"] is removed"
    case .delete: "the field is deleted"
    }
  }

  /// Whether the kind takes a text.
  var takesText: Bool {
    switch self {
    case .null, .serverTimestamp, .delete: false
    default: true
    }
  }

  /// Whether the server computes the new value from the current value.
  package var isTransform: Bool {
    switch self {
    case .serverTimestamp, .increment, .maximum, .minimum, .arrayUnion, .arrayRemove: true
    default: false
    }
  }

  /// The next or previous type of a value. If the kind is not a type, returns the first type.
  func neighbour(_ step: Int) -> FieldKind {
    let types = Self.allCases.filter { !$0.isTransform && $0 != .delete }
    guard let index = types.firstIndex(of: self) else { return .string }
    return types[(index + step + types.count) % types.count]
  }
}

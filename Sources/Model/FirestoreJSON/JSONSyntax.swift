// SPDX-License-Identifier: Apache-2.0

/// A parsed JSON value that preserves the order of members, the position of each value, and the difference between
/// integers and other numbers.
package struct JSONSyntax: Sendable {
  package enum Kind: Sendable {
    case null
    case boolean(Bool)
    /// A number without a fraction and without an exponent.
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONSyntax])
    /// An object without duplicate names.
    case object([Member])
  }

  package struct Member: Sendable {
    package var name: String
    package var value: JSONSyntax

    package init(_ name: String, _ value: JSONSyntax) {
      self.name = name
      self.value = value
    }
  }

  package var kind: Kind
  /// The line where the value begins; 0 if the value was not parsed from a text.
  package var line: Int
  package var column: Int

  package init(_ kind: Kind, line: Int = 0, column: Int = 0) {
    self.kind = kind
    self.line = line
    self.column = column
  }

  /// Determines how minus zero, and integers that exceed 64 bits, are parsed.
  package enum Numbers: Sendable {
    /// Integers that exceed 64 bits are rejected, and `-0` is the integer zero.
    case exact
    /// Integers that exceed 64 bits, and minus zero, become doubles, as in JavaScript.
    case ofAnySize
  }

  /// Parses a whole text as one value, strictly according to RFC 8259. Rejects duplicate names and deep nesting.
  package init(parsing text: String, numbers: Numbers = .exact) throws(JSONError) {
    var parser = JSONParser(text, numbers)
    self = try parser.document()
  }

  /// Parses a configuration file: JSON that may contain comments (`//`, `/* */`), commas before closing brackets, and a
  /// byte order mark at the start.
  /// - Returns: the value, and an error that describes the first comma before a closing bracket, if there is one. Some
  ///   readers reject such commas.
  package static func commented(_ text: String) throws(JSONError) -> (value: JSONSyntax, trailingComma: JSONError?) {
    var parser = JSONParser(text, isCommented: true)
    let value = try parser.document()
    return (value, parser.trailingComma)
  }

  /// Creates an error at this value's position.
  package func error(_ reason: String) -> JSONError { JSONError(line: line, column: column, reason: reason) }

  /// The kind of the value, with an article, for messages about an unexpected value.
  package var kindName: String {
    switch kind {
    case .null: "null"
    case .boolean: "a boolean"
    case .integer: "an integer"
    case .double: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// The value of an object's member; `nil` if the member is missing or this value is not an object.
  package subscript(name: String) -> JSONSyntax? {
    guard case .object(let members) = kind else { return nil }
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }
}

extension JSONSyntax {
  /// The value on one line, with a space after colons and commas.
  package var lineText: String {
    var text = ""
    write(to: &text)
    return text
  }

  /// The value on several lines, indented by two spaces per level.
  /// - Parameter isCompact: returns whether an object or array is written on one line. Empty objects and arrays always
  ///   are.
  package func prettyText(isCompact: (JSONSyntax) -> Bool = { _ in false }) -> String {
    var text = ""
    writePretty(to: &text, indent: "", isCompact: isCompact)
    return text
  }

  private func write(to text: inout String) {
    switch kind {
    case .null: text += "null"
    case .boolean(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    // The shortest digits that parse as the same double, always with a point or an exponent.
    case .double(let value): text += value.description
    case .string(let value): Self.write(value, to: &text)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += ", " }
        element.write(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += ", " }
        Self.write(member.name, to: &text)
        text += ": "
        member.value.write(to: &text)
      }
      text += "}"
    }
  }

  private func writePretty(to text: inout String, indent: String, isCompact: (JSONSyntax) -> Bool) {
    let inner = indent + "  "
    switch kind {
    case .array(let elements) where !elements.isEmpty && !isCompact(self):
      text += "["
      for (index, element) in elements.enumerated() {
        text += (index > 0 ? ",\n" : "\n") + inner
        element.writePretty(to: &text, indent: inner, isCompact: isCompact)
      }
      text += "\n\(indent)]"
    case .object(let members) where !members.isEmpty && !isCompact(self):
      text += "{"
      for (index, member) in members.enumerated() {
        text += (index > 0 ? ",\n" : "\n") + inner
        Self.write(member.name, to: &text)
        text += ": "
        member.value.writePretty(to: &text, indent: inner, isCompact: isCompact)
      }
      text += "\n\(indent)}"
    default: write(to: &text)
    }
  }

  /// Writes a string. Escapes all control characters, including those beyond ASCII, so that the text is safe to show on
  /// a terminal.
  private static func write(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

/// An error at a position: either the text is not valid JSON, or the JSON has unexpected content.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line number, from 1.
  package var line: Int
  /// The column in Unicode scalars, from 1.
  package var column: Int
  package var reason: String

  package init(line: Int, column: Int, reason: String) {
    self.line = line
    self.column = column
    self.reason = reason
  }

  /// The position and the reason, such as `line 3, column 14: …`.
  package var description: String { "line \(line), column \(column): \(reason)" }
}

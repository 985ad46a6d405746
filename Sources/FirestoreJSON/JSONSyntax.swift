// SPDX-License-Identifier: Apache-2.0

/// A JSON value as it was written: integers apart from other numbers, members in their order, each with its place.
package struct JSONSyntax: Sendable {
  package enum Kind: Sendable {
    case null
    case boolean(Bool)
    /// A number without a fraction and exponent.
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONSyntax])
    /// No name occurs twice.
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
  /// Where the value begins; 0 for one that was not read from a text.
  package var line: Int
  package var column: Int

  package init(_ kind: Kind, line: Int = 0, column: Int = 0) {
    self.kind = kind
    self.line = line
    self.column = column
  }

  /// Reads a whole text as one value, strictly by RFC 8259; names must not repeat within an object, integers must fit
  /// into 64 bits, and nesting is limited.
  package init(parsing text: String) throws(JSONError) {
    var parser = JSONParser(text)
    self = try parser.document()
  }

  /// An error at the place of this value.
  package func error(_ reason: String) -> JSONError { JSONError(line: line, column: column, reason: reason) }

  /// What the value is, with an article, for messages that say what was found.
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

  /// The member of an object; `nil` if there is none, or this is no object.
  package subscript(name: String) -> JSONSyntax? {
    guard case .object(let members) = kind else { return nil }
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }
}

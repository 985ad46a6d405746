// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
package import FirestoreModel

/// Parses values as users type them. A value can be JSON with the `$` types of `DocumentJSON`, a list in brackets, a
/// number, `true`, `false`, `null`, `NaN`, an RFC 3339 time, or a typed literal (`TypedLiteral`). Any other text is a
/// string. A string needs quotes only if it looks like a value of another type (`PlainText`).
package struct ValueReader {
  /// Determines what may follow a value and therefore ends unquoted text.
  package enum Ending {
    /// Only the end of the text ends a value.
    case text
    /// A value also ends before `and`, `or`, a comma before another condition, or a closing parenthesis.
    case condition
    /// A value also ends before everything that ends it with `condition`, and before a word that begins a clause
    /// (`ClauseWord`).
    case line
    /// A value also ends before a comma or the closing bracket of the list.
    case element
    /// A value also ends before white space.
    case word
  }

  private let database: DatabaseID
  /// Whether the value is compared with `__name__`, so that it must be a path.
  private let isName: Bool

  package init(database: DatabaseID, isName: Bool = false) {
    self.database = database
    self.isName = isName
  }

  /// Parses a whole text as a value.
  package func value(of text: String) throws(TextError) -> Value {
    var cursor = TextCursor(text)
    let value = try value(&cursor, until: .text)
    cursor.skipSpace()
    if !cursor.isAtEnd { throw TextError(column: cursor.column, "Expected nothing more after the value.") }
    return value
  }

  /// Parses the value that begins at the cursor.
  package func value(_ cursor: inout TextCursor, until ending: Ending) throws(TextError) -> Value {
    switch cursor.next {
    case "{", "\"": return try json(&cursor)
    case "[": return ending == .element ? try json(&cursor) : .array(try list(&cursor) { _ in isName })
    case "'": return .string(try quoted(&cursor))
    default: return try plain(&cursor, until: ending)
    }
  }

  // MARK: Lists

  /// Parses values in brackets, separated by commas.
  /// - Parameter isName: returns whether the value at an index in the list is compared with `__name__`.
  func list(_ cursor: inout TextCursor, isName: (Int) -> Bool) throws(TextError) -> [Value] {
    cursor.position += 1
    var values: [Value] = []
    cursor.skipSpace()
    if cursor.take("]") { return [] }
    while true {
      cursor.skipSpace()
      if cursor.next == "," || cursor.next == "]" {
        throw TextError(column: cursor.column, "Expected a value before the comma or bracket.")
      }
      let reader = ValueReader(database: database, isName: isName(values.count))
      values.append(try reader.value(&cursor, until: .element))
      cursor.skipSpace()
      if cursor.take("]") { return values }
      guard cursor.take(",") else {
        let expected = cursor.isAtEnd ? "\"]\" at the end of the list" : "a comma or \"]\" after the value"
        throw TextError(column: cursor.column, "Expected \(expected).")
      }
    }
  }

  // MARK: Quotes

  /// Reads a JSON string, object or list, up to its closing quote or bracket.
  private func json(_ cursor: inout TextCursor) throws(TextError) -> Value {
    let start = cursor.position
    var depth = 0
    var isQuoted = false
    while let scalar = cursor.next {
      cursor.position += 1
      if isQuoted {
        if scalar == "\\" { cursor.position = min(cursor.position + 1, cursor.scalars.count) }
        if scalar == "\"" { isQuoted = false }
      } else if scalar == "\"" {
        isQuoted = true
      } else if scalar == "{" || scalar == "[" {
        depth += 1
      } else if scalar == "}" || scalar == "]" {
        depth -= 1
      }
      if depth == 0, !isQuoted { break }
    }
    do throws(JSONError) {
      return try DocumentJSON.parseValue(cursor.text(start..<cursor.position), database: database)
    } catch {
      throw TextError(error, from: start + 1)
    }
  }

  /// Reads a text in single quotes. There are no escapes.
  private func quoted(_ cursor: inout TextCursor) throws(TextError) -> String {
    let start = cursor.position + 1
    guard let end = cursor.scalars[start...].firstIndex(of: "'") else {
      throw TextError(column: start, "The quote is not closed.")
    }
    cursor.position = end + 1
    if let next = cursor.next, next.properties.isAlphabetic || next == "'" {
      throw TextError(
        column: end + 1,
        "More text follows the closing quote. Put text that contains a single quote in double quotes.")
    }
    return cursor.text(start..<end)
  }

  // MARK: Words

  private func plain(_ cursor: inout TextCursor, until ending: Ending) throws(TextError) -> Value {
    let start = cursor.position
    while let scalar = cursor.next, !ends(scalar, at: cursor, ending, isFirst: cursor.position == start) {
      if ending == .condition || ending == .line, scalar == "(" {
        throw TextError(column: cursor.column, "Quote text that contains a parenthesis.")
      }
      cursor.position += 1
    }
    let text = String(cursor.text(start..<cursor.position).trimming())
    if text.isEmpty { throw TextError(column: start + 1, "Expected a value. Write \"\" for an empty string.") }
    return try value(ofPlain: text, column: start + 1)
  }

  /// - Parameter isFirst: whether a text that ended here would be empty. In this case, a clause word does not end the
  ///   text, because there must be a value before the clause.
  private func ends(_ scalar: Unicode.Scalar, at cursor: TextCursor, _ ending: Ending, isFirst: Bool) -> Bool {
    switch ending {
    case .text: false
    case .element: scalar == "," || scalar == "]"
    case .word: scalar.properties.isWhitespace
    case .condition:
      scalar == ")" || ConditionText.Joint.found(at: cursor) != nil || ConditionText.isComma(at: cursor)
    case .line:
      ends(scalar, at: cursor, .condition, isFirst: isFirst) || !isFirst && ClauseWord.found(at: cursor) != nil
    }
  }

  private func value(ofPlain text: String, column: Int) throws(TextError) -> Value {
    // Tries JSON and ignores its errors, because a date or an address begins like a number, and a name may begin like a
    // keyword.
    if let first = text.utf8.first, "-0123456789tfn".utf8.contains(first),
      let value = try? DocumentJSON.parseValue(text, database: database)
    {
      return value
    }
    if text == "NaN" { return .double(.nan) }
    if !isName, let time = Timestamp(rfc3339: text) { return .timestamp(time) }
    if let syntax = try TypedLiteral.syntax(text, column: column) {
      do throws(JSONError) {
        return try DocumentJSON.parseValue(syntax.lineText, database: database)
      } catch {
        throw TextError(column: column, error.reason)
      }
    }
    if !isName, let objection = PlainText.objection(to: text) { throw TextError(column: column, objection) }
    return .string(text)
  }
}

extension ValueReader {
  /// A text that is parsed as this value if `ending` follows. A string is written without quotes if it is parsed
  /// unchanged without them. A time is written in RFC 3339 form.
  package static func text(of value: Value, in database: DatabaseID, until ending: Ending = .line) -> String {
    let plain: String
    switch value {
    case .string(let text): plain = text
    case .timestamp(let time): plain = time.rfc3339Text
    default: return DocumentJSON.line(of: value, relativeTo: database)
    }
    var cursor = TextCursor(plain)
    // Writes JSON if the plain text would be rejected or only partly read.
    let read = try? ValueReader(database: database).value(&cursor, until: ending)
    let isWhole = read == value && cursor.isAtEnd && !plain.contains(where: \.isNewline)
    return isWhole ? plain : DocumentJSON.line(of: value, relativeTo: database)
  }
}

/// A type prefix before unquoted text: `timestamp:2026-03-02T11:58:03Z`, `ref:users/ada`. Each prefix stands for the
/// `$` object with the same name. The prefixes `string:` and `integer:` have no `$` object and exist for completeness.
package enum TypedLiteral {
  package static let names = "timestamp: ref: bytes: geo: vector: double: integer: string:"

  /// - Returns: the value as JSON; `nil` if the text has no type prefix. The content, such as a time or a path, has not
  ///   been checked yet.
  package static func syntax(_ text: String, column: Int = 1) throws(TextError) -> JSONSyntax? {
    guard let colon = text.unicodeScalars.firstIndex(of: ":") else { return nil }
    let content = String(text[text.unicodeScalars.index(after: colon)...].trimming())
    switch text[..<colon] {
    // Returns a text that is not a time unchanged. The reader of the JSON rejects it, with its position.
    case "timestamp": return object("timestamp", .string((try? InstantText.parse(content))?.rfc3339Text ?? content))
    case "ref": return object("ref", .string(content.hasPrefix("/") ? String(content.dropFirst()) : content))
    case "bytes": return object("bytes", .string(content))
    case "geo": return object("geo", numbers(content))
    case "vector": return object("vector", numbers(content))
    case "double":
      guard let number = Double(content) else { throw TextError(column: column, "Expected a number after double:.") }
      return finite(number)
    case "integer":
      guard let number = Int64(content) else {
        throw TextError(column: column, "Expected a 64-bit integer after integer:.")
      }
      return JSONSyntax(.integer(number))
    case "string": return JSONSyntax(.string(content))
    default: return nil
    }
  }

  private static func object(_ name: String, _ content: JSONSyntax.Kind) -> JSONSyntax {
    JSONSyntax(.object([JSONSyntax.Member("$" + name, JSONSyntax(content))]))
  }

  private static func finite(_ number: Double) -> JSONSyntax {
    if number.isFinite { return JSONSyntax(.double(number)) }
    return object("double", .string(number.isNaN ? "NaN" : number > 0 ? "Infinity" : "-Infinity"))
  }

  /// Reads numbers that are separated by commas, with or without brackets around them.
  private static func numbers(_ text: String) -> JSONSyntax.Kind {
    let inner = text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text[...]
    return .array(
      inner.split(separator: ",", omittingEmptySubsequences: false).map { part in
        let word = String(part.trimming())
        return Double(word).map { $0.isFinite ? JSONSyntax(.double($0)) : JSONSyntax(.string(word)) }
          ?? JSONSyntax(.string(word))
      })
  }
}

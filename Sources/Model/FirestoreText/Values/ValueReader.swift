// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel

/// Values as people type them: JSON with the `$` types of `DocumentJSON` where the text begins like it, lists in
/// brackets, numbers, `true`, `false`, `null` and `NaN`, times of RFC 3339, types before a text (`TypedLiteral`); any
/// other text is a string and needs no quotes, unless it looks like something else (`PlainText`).
package struct ValueReader {
  /// The kind of thing that follows a value, and so ends text without quotes.
  package enum Ending {
    /// The end of the text.
    case text
    /// `and`, `or`, a comma before another condition, or a closing parenthesis.
    case condition
    /// The same, or a word that begins a clause (`ClauseWord`).
    case line
    /// A comma or the closing bracket.
    case element
    /// White space.
    case word
  }

  private let database: DatabaseID
  /// Whether the value is compared with `__name__`, so that a path is what is meant.
  private let isName: Bool

  package init(database: DatabaseID, isName: Bool = false) {
    self.database = database
    self.isName = isName
  }

  /// Reads all of a text.
  package func value(of text: String) throws(TextError) -> Value {
    var cursor = TextCursor(text)
    let value = try value(&cursor, until: .text)
    cursor.skipSpace()
    if !cursor.isAtEnd { throw TextError(column: cursor.column, "Expected nothing more after the value.") }
    return value
  }

  /// Reads the value that begins at the cursor.
  package func value(_ cursor: inout TextCursor, until ending: Ending) throws(TextError) -> Value {
    switch cursor.next {
    case "{", "\"": return try json(&cursor)
    case "[": return ending == .element ? try json(&cursor) : .array(try list(&cursor) { _ in isName })
    case "'": return .string(try quoted(&cursor))
    default: return try plain(&cursor, until: ending)
    }
  }

  // MARK: Lists

  /// Values between brackets, with commas.
  /// - Parameter isName: for each place in the list, whether it is compared with `__name__`.
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

  /// A string, an object or a list of JSON: up to where its quotes and brackets are closed.
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

  /// A text between single quotes, without escapes.
  private func quoted(_ cursor: inout TextCursor) throws(TextError) -> String {
    let start = cursor.position + 1
    guard let end = cursor.scalars[start...].firstIndex(of: "'") else {
      throw TextError(column: start, "The quote is not closed.")
    }
    cursor.position = end + 1
    if let next = cursor.next, next.properties.isAlphabetic || next == "'" {
      throw TextError(
        column: end + 1,
        "The quote ends the text here, and more follows. Text with a single quote in it stands in double quotes.")
    }
    return cursor.text(start..<end)
  }

  // MARK: Words

  private func plain(_ cursor: inout TextCursor, until ending: Ending) throws(TextError) -> Value {
    let start = cursor.position
    while let scalar = cursor.next, !ends(scalar, at: cursor, ending, isFirst: cursor.position == start) {
      if ending == .condition || ending == .line, scalar == "(" {
        throw TextError(column: cursor.column, "Text with a parenthesis in it is quoted.")
      }
      cursor.position += 1
    }
    let text = String(cursor.text(start..<cursor.position).trimming())
    if text.isEmpty { throw TextError(column: start + 1, "Expected a value. An empty string is written \"\".") }
    return try value(ofPlain: text, column: start + 1)
  }

  /// - Parameter isFirst: whether a text would be empty that ended here; a clause has a value before it.
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
    // A date or an address begins like a number, and a name may begin like a keyword.
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

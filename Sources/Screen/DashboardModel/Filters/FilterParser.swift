// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreText
import LinearPatterns

/// Parses the text typed after `/`.
struct FilterParser {
  private var cursor: TextCursor
  /// The database of references in values.
  private let database: DatabaseID

  init(_ text: String, in database: DatabaseID) {
    cursor = TextCursor(text)
    self.database = database
  }

  mutating func terms() throws(TextError) -> [RowFilter.Term] {
    var terms: [RowFilter.Term] = []
    while true {
      cursor.skipSpace()
      if cursor.isAtEnd { return terms }
      let isExcluded = cursor.take("!")
      // The excluded word is still to be typed.
      guard let start = cursor.next, !start.properties.isWhitespace else { continue }
      if let condition = try condition(from: start) {
        terms.append(RowFilter.Term(condition: condition, isExcluded: isExcluded))
      }
    }
  }

  private func error(_ reason: String, at place: Int? = nil) -> TextError {
    TextError(column: (place ?? cursor.position) + 1, reason)
  }

  private mutating func condition(from start: Unicode.Scalar) throws(TextError) -> RowFilter.Condition? {
    switch start {
    case "/": return .matches(try pattern())
    case "\"":
      let word = quoted()
      return word.isEmpty ? nil : .contains(RowFilter.Word(word))
    case "~":
      cursor.position += 1
      let letters = rest()
      return letters.isEmpty ? nil : .matches(try Self.letters(letters))
    case "^":
      cursor.position += 1
      let word = rest()
      return word.isEmpty ? nil : .begins(word)
    default:
      if let field = try field() { return try comparison(of: field) }
      return .contains(RowFilter.Word(rest()))
    }
  }

  /// Passes everything up to the next blank, and returns it.
  private mutating func rest() -> String { cursor.take { !$0.properties.isWhitespace } }

  /// A word between double quotes; an end that is still to be typed is at the end of the line.
  private mutating func quoted() -> String {
    cursor.position += 1
    var word = String.UnicodeScalarView()
    while let scalar = cursor.next, scalar != "\"" {
      cursor.position += 1
      if scalar == "\\", let escaped = cursor.next, escaped == "\"" || escaped == "\\" {
        cursor.position += 1
        word.append(escaped)
      } else {
        word.append(scalar)
      }
    }
    _ = cursor.take("\"")
    return String(word)
  }

  /// The pattern of a word in which some letters stand in this order, whatever is between them.
  private static func letters(_ text: String) throws(TextError) -> Pattern {
    let escaped = text.unicodeScalars.map { scalar in
      let isSign = scalar.isASCII && !scalar.properties.isAlphabetic && scalar.properties.numericType == nil
      return (isSign && scalar != "_" ? "\\" : "") + String(scalar)
    }
    do throws(PatternError) { return try Pattern(escaped.joined(separator: "[^ ]*")) } catch {
      throw TextError(column: nil, error.reason)
    }
  }

  private mutating func pattern() throws(TextError) -> Pattern {
    let start = cursor.position
    cursor.position += 1
    while let scalar = cursor.next, scalar != "/" {
      cursor.position += 1
      if scalar == "\\", !cursor.isAtEnd { cursor.position += 1 }
    }
    let source = cursor.text(start + 1..<cursor.position)
    guard cursor.take("/") else { throw error("a pattern ends with /; \"/…\" is a word", at: start) }
    if let after = cursor.next, !after.properties.isWhitespace {
      throw error("a blank parts the pattern from what follows")
    }
    if source.isEmpty { throw error("the pattern is empty", at: start) }
    do throws(PatternError) { return try Pattern(source) } catch {
      throw TextError(column: start + 1 + error.column, error.reason)
    }
  }

  // MARK: Fields

  /// Reads a field with the colon behind it; returns `nil`, and reads nothing, for other words.
  private mutating func field() throws(TextError) -> FieldPath? {
    let scalars = cursor.scalars
    let start = cursor.position
    var end = start
    var isQuoted = false
    while end < scalars.count, isQuoted || !scalars[end].properties.isWhitespace && scalars[end] != ":" {
      if scalars[end] == "\\", isQuoted { end += 1 } else if scalars[end] == "`" { isQuoted.toggle() }
      end += 1
    }
    guard end < scalars.count, scalars[end] == ":", end > start else { return nil }
    let name = cursor.text(start..<end)
    let isName = name.unicodeScalars.allSatisfy {
      $0 == "_" || $0 == "." || $0 == "-" || $0.properties.isAlphabetic
        || $0.properties.numericType != nil
    }
    guard name.contains("`") || isName && name.first?.isNumber == false && name.first != "-" else { return nil }
    cursor.position = end + 1
    let path = try FieldPathText.parse(name, column: start + 1)
    if path.isDocumentID { throw error("ids are words: ^abc for those that begin with abc", at: start) }
    return path
  }

  private static let operators: [(text: String, op: FieldFilter.Operator?)] = [
    ("<=", .lessThanOrEqual), (">=", .greaterThanOrEqual), ("!=", .notEqual), ("==", .equal), ("=", .equal),
    ("<", .lessThan), (">", .greaterThan), ("~", nil),
  ]

  private mutating func comparison(of path: FieldPath) throws(TextError) -> RowFilter.Condition {
    if cursor.next == "/" { return .fieldMatches(path, try pattern()) }
    let start = cursor.position
    var op: FieldFilter.Operator? = .equal
    if let found = Self.operators.first(where: { cursor.take($0.text) }) {
      op = found.op
      // A second colon is skipped: `n:>:5` is `n:>5`.
      if op != nil { _ = cursor.take(":") }
    }
    guard let next = cursor.next, !next.properties.isWhitespace else {
      let sign = cursor.text(start..<cursor.position)
      throw error("a value is missing\(sign.isEmpty ? "" : " after \(sign)"); \"\" is the empty text")
    }
    guard let op else { return .fieldContains(path, RowFilter.Word(next == "\"" ? quoted() : rest())) }
    let value = try ValueReader(database: database).value(&cursor, until: .word)
    return .field(FieldFilter(path, op, value))
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import LinearPatterns

/// Reads the line behind `/`.
struct FilterParser {
  private let text: [Character]
  private var position = 0

  init(_ text: String) { self.text = Array(text) }

  mutating func terms() throws(TextError) -> [RowFilter.Term] {
    var terms: [RowFilter.Term] = []
    while let first = next {
      if first.isWhitespace {
        position += 1
        continue
      }
      let isExcluded = first == "!"
      if isExcluded { position += 1 }
      // What is excluded is still to be typed.
      guard let start = next, !start.isWhitespace else { continue }
      if let condition = try condition(from: start) {
        terms.append(RowFilter.Term(condition: condition, isExcluded: isExcluded))
      }
    }
    return terms
  }

  private var next: Character? { position < text.count ? text[position] : nil }

  private func error(_ reason: String, at place: Int? = nil) -> TextError {
    TextError(column: (place ?? position) + 1, reason: reason)
  }

  private mutating func condition(from start: Character) throws(TextError) -> RowFilter.Condition? {
    switch start {
    case "/": return .matches(try pattern())
    case "\"":
      let word = quoted()
      return word.isEmpty ? nil : .contains(RowFilter.Word(word))
    case "^":
      position += 1
      let word = rest()
      return word.isEmpty ? nil : .begins(word)
    default:
      if let field = try field() { return try comparison(of: field) }
      return .contains(RowFilter.Word(rest()))
    }
  }

  /// Up to the next blank.
  private mutating func rest() -> String {
    let start = position
    while let character = next, !character.isWhitespace { position += 1 }
    return String(text[start..<position])
  }

  /// Between double quotes; an end that is still to be typed is at the end of the line.
  private mutating func quoted() -> String {
    position += 1
    var word = ""
    while let character = next, character != "\"" {
      position += 1
      if character == "\\", let escaped = next, escaped == "\"" || escaped == "\\" {
        position += 1
        word.append(escaped)
      } else {
        word.append(character)
      }
    }
    position = min(text.count, position + 1)
    return word
  }

  private mutating func pattern() throws(TextError) -> Pattern {
    let start = position
    position += 1
    var source = ""
    while let character = next, character != "/" {
      position += 1
      source.append(character)
      if character == "\\", let escaped = next {
        position += 1
        source.append(escaped)
      }
    }
    guard next == "/" else { throw error("a pattern ends with /; \"/…\" is a word", at: start) }
    position += 1
    if let after = next, !after.isWhitespace { throw error("a blank parts the pattern from what follows") }
    if source.isEmpty { throw error("the pattern is empty", at: start) }
    do throws(PatternError) { return try Pattern(source) } catch {
      throw TextError(column: start + 1 + error.column, reason: error.reason)
    }
  }

  // MARK: Fields

  /// A field with the colon behind it; `nil`, and nothing taken, for other words.
  private mutating func field() throws(TextError) -> FieldPath? {
    let start = position
    var end = position
    var isQuoted = false
    while end < text.count, isQuoted || !text[end].isWhitespace && text[end] != ":" {
      if text[end] == "\\", isQuoted { end += 1 } else if text[end] == "`" { isQuoted.toggle() }
      end += 1
    }
    guard end < text.count, text[end] == ":", end > start else { return nil }
    let name = String(text[start..<end])
    let isName = name.unicodeScalars.allSatisfy {
      $0 == "_" || $0 == "." || $0 == "-" || $0.properties.isAlphabetic
        || $0.properties.numericType != nil
    }
    guard name.contains("`") || isName && name.first?.isNumber == false && name.first != "-" else { return nil }
    position = end + 1
    let path: FieldPath
    do throws(ModelError) { path = try FieldPath(validating: name) } catch {
      throw TextError(column: start + 1, reason: error.message)
    }
    if path.isDocumentID { throw error("ids are words: ^abc for those that begin with abc", at: start) }
    return path
  }

  private static let operators: [(text: String, op: FieldFilter.Operator?)] = [
    ("<=", .lessThanOrEqual), (">=", .greaterThanOrEqual), ("!=", .notEqual), ("==", .equal), ("=", .equal),
    ("<", .lessThan), (">", .greaterThan), ("~", nil),
  ]

  private mutating func comparison(of path: FieldPath) throws(TextError) -> RowFilter.Condition {
    if next == "/" { return .fieldMatches(path, try pattern()) }
    let start = position
    var op: FieldFilter.Operator? = .equal
    if let found = Self.operators.first(where: { String(text[position...].prefix($0.text.count)) == $0.text }) {
      position += found.text.count
      op = found.op
      // `n:>:5` is `n:>5`.
      if op != nil, next == ":" { position += 1 }
    }
    let isQuoted = next == "\""
    let typed = isQuoted ? quoted() : rest()
    if typed.isEmpty, !isQuoted {
      let what = start == position ? "a value is missing" : "a value is missing after \(String(text[start..<position]))"
      throw error("\(what); \"\" is the empty text")
    }
    guard let op else { return .fieldContains(path, RowFilter.Word(typed)) }
    return .field(FieldFilter(path, op, isQuoted ? .string(typed) : TypedValue.comparable(typed)))
  }
}

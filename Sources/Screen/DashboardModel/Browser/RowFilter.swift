// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
package import FirestoreText
package import LinearPatterns

/// The filter of every `/` prompt. A row must match all terms.
///
///     word "two words" ^beginning ~letters /re/ field:value field:>5 field:~part field:/re/ !term
///
/// Capital letters in a word or pattern make it case-sensitive. Values have the syntax of conditions (`ValueReader`),
/// up to the next blank. As in Firestore, only values of the same type are compared, and numbers are compared by value.
package struct RowFilter: Hashable, Sendable {
  package struct Term: Hashable, Sendable {
    package var condition: Condition
    package var isExcluded = false

    package init(condition: Condition, isExcluded: Bool = false) {
      (self.condition, self.isExcluded) = (condition, isExcluded)
    }
  }

  package enum Condition: Hashable, Sendable {
    case contains(Word)
    /// The row starts with a text.
    case begins(String)
    case matches(Pattern)
    case field(FieldFilter)
    case fieldContains(FieldPath, Word)
    case fieldMatches(FieldPath, Pattern)
  }

  package struct Word: Hashable, Sendable {
    package let text: String
    package let isExact: Bool
    private let isASCII: Bool

    package init(_ text: String) {
      self.text = text
      isExact = text != text.lowercased()
      isASCII = text.utf8.allSatisfy { $0 < 0x80 }
    }

    func isPart(of candidate: String) -> Bool {
      let candidate = isExact ? candidate : candidate.lowercased()
      // Only other characters have several spellings, and a search for characters takes a hundred times as long.
      return isASCII ? candidate.hasBytes(of: text) : candidate.contains(text)
    }
  }

  package let text: String
  package let terms: [Term]

  /// A filter that matches every row.
  package static let none = RowFilter(text: "", terms: [])

  package init(text: String, terms: [Term]) {
    self.text = text
    self.terms = terms
  }

  /// - Throws: the error in the text, with its position.
  package init(_ text: String, in database: DatabaseID) throws(TextError) {
    var parser = FilterParser(text, in: database)
    self.init(text: text, terms: try parser.terms())
  }

  package var isEmpty: Bool { terms.isEmpty }

  /// - Parameters:
  ///   - text: the whole text of the row.
  ///   - documents: the documents for the field conditions. One of them must satisfy each condition.
  package func matches(_ text: @autoclosure () -> String, in documents: @autoclosure () -> [Document] = []) -> Bool {
    if terms.isEmpty { return true }
    let (text, documents) = (text(), terms.contains(where: \.isAboutField) ? documents() : [])
    return terms.allSatisfy { $0.condition.holds(of: text, documents) != $0.isExcluded }
  }

  /// The fields of the conditions, without excluded ones.
  package var fields: [FieldPath] {
    terms.compactMap { term in
      if term.isExcluded { return nil }
      return switch term.condition {
      case .contains, .begins, .matches: nil
      case .field(let filter): filter.path
      case .fieldContains(let path, _), .fieldMatches(let path, _): path
      }
    }
  }

  /// The parts of a row's text that match, as ranges of Unicode scalars.
  func hits(in text: [Unicode.Scalar]) -> [Range<Int>] {
    terms.filter { !$0.isExcluded }.compactMap(\.condition.shown).flatMap { $0.ranges(in: text) }
  }
}

extension String {
  /// Whether this text contains the UTF-8 bytes of another text.
  fileprivate func hasBytes(of text: String) -> Bool {
    var (text, whole) = (text, self)
    return text.withUTF8 { text in
      whole.withUTF8 { whole in
        guard let first = text.first else { return true }
        guard whole.count >= text.count else { return false }
        return (0...(whole.count - text.count)).contains { start in
          whole[start] == first && whole[start..<(start + text.count)].elementsEqual(text)
        }
      }
    }
  }
}

extension RowFilter.Term {
  var isAboutField: Bool {
    switch condition {
    case .contains, .begins, .matches: false
    case .field, .fieldContains, .fieldMatches: true
    }
  }
}

extension RowFilter.Condition {
  package func holds(of text: String, _ documents: [Document]) -> Bool {
    switch self {
    case .contains(let word): word.isPart(of: text)
    case .begins(let start): text.hasPrefix(start)
    case .matches(let pattern): pattern.matches(text)
    case .field(let filter): documents.contains { filter.holds(of: $0) }
    case .fieldContains(let path, let word): documents.contains { $0.texts(at: path).contains { word.isPart(of: $0) } }
    case .fieldMatches(let path, let pattern):
      documents.contains { $0.texts(at: path).contains { pattern.matches($0) } }
    }
  }

  /// The pattern that is highlighted in a row.
  fileprivate var shown: Pattern? {
    switch self {
    case .contains(let word), .fieldContains(_, let word): Pattern(literal: word.text, isExact: word.isExact)
    case .begins(let start): Pattern(literal: start, isExact: true)
    case .matches(let pattern), .fieldMatches(_, let pattern): pattern
    case .field(let filter):
      if filter.op == .equal, case .string(let text) = filter.value, !text.isEmpty {
        Pattern(literal: text, isExact: true)
      } else {
        nil
      }
    }
  }
}

extension FieldFilter {
  package func holds(of document: Document) -> Bool {
    Query(path: document.key.collection, filters: [.field(self)]).matches(document)
  }
}

extension Document {
  /// The texts of the field at a path. An array has one text for each element.
  fileprivate func texts(at path: FieldPath) -> [String] {
    switch data?[path] {
    case nil: []
    case .array(let values)?: values.prefix(100).map(Self.text)
    case let value?: [Self.text(of: value)]
    }
  }

  private static func text(of value: Value) -> String {
    if case .string(let text) = value { text } else { ColumnText.text(of: value) }
  }
}

/// Parses the text typed after `/`.
struct FilterParser {
  private var cursor: TextCursor
  /// The database to which references in values belong.
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
      // The excluded word is not typed yet.
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

  /// Consumes and returns everything up to the next blank.
  private mutating func rest() -> String { cursor.take { !$0.properties.isWhitespace } }

  /// A word between double quotes. A missing end quote is assumed at the end of the line.
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

  /// A pattern for words that contain these letters in this order, with any text between them.
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
      throw error("a space must follow the pattern")
    }
    if source.isEmpty { throw error("the pattern is empty", at: start) }
    do throws(PatternError) { return try Pattern(source) } catch {
      throw TextError(column: start + 1 + error.column, error.reason)
    }
  }

  // MARK: Fields

  /// Reads a field name and its colon. If the word is not a field name, returns `nil` and reads nothing.
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
    if path.isDocumentID { throw error("ids are words: ^abc for ids with the prefix abc", at: start) }
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

// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
package import FirestoreQuery
import Spelling

/// Parses conditions as users type them: `state == CA and (population > 1000 or tags contains west)`. The word `and`
/// has precedence over `or`; a comma has the lowest precedence. `ValueReader` parses the values.
package struct ConditionText {
  /// The maximum nesting depth of parentheses. It prevents a stack overflow.
  private static let depthLimit = 50

  private let query: Query
  private let database: DatabaseID
  private let ending: ValueReader.Ending
  private var cursor: TextCursor
  private var depth = 0
  /// The position of an unquoted value that was ended by the last `and` or `or`; `nil` if there is none.
  private var openText: Int?

  /// - Parameter query: the query to filter. Ids that are compared with `__name__` become paths in the query's
  ///   collection.
  /// - Returns: the filters, all of which must be met.
  package static func parse(_ text: String, of query: Query, database: DatabaseID) throws(TextError) -> [Filter] {
    var parser = ConditionText(query, database, .condition, TextCursor(text))
    return try parser.all()
  }

  /// Parses the conditions that begin at the cursor. Stops before the next clause of the line.
  static func read(_ cursor: inout TextCursor, of query: Query, database: DatabaseID) throws(TextError) -> [Filter] {
    var parser = ConditionText(query, database, .line, cursor)
    let filters = try parser.all()
    cursor = parser.cursor
    return filters
  }

  private init(_ query: Query, _ database: DatabaseID, _ ending: ValueReader.Ending, _ cursor: TextCursor) {
    (self.query, self.database, self.ending, self.cursor) = (query, database, ending, cursor)
  }

  /// Whether the cursor is at a comma after which another condition follows. In `Smith, John`, the comma is part of the
  /// text.
  static func isComma(at cursor: TextCursor) -> Bool {
    var ahead = cursor
    guard ahead.take(",") else { return false }
    repeat { ahead.skipSpace() } while ahead.take("(")
    let start = ahead.position
    // The bound, the length of the longest valid field path, keeps the cost linear for a text with many commas.
    skipField(&ahead, atMost: FieldPath.byteLimit, until: ",")
    // The error is ignored, because it would be about text that is not a condition.
    guard ahead.position > start, let op = try? OperatorText.read(&ahead) else { return false }
    ahead.skipSpace()
    return !op.takesList || ahead.next == "["
  }

  // MARK: Expressions

  private mutating func all() throws(TextError) -> [Filter] {
    let filter = try sequence()
    if cursor.next == ")" {
      throw TextError(
        column: cursor.column, "This \")\" has no matching \"(\". Quote text that contains a parenthesis.")
    }
    if case .and(let filters) = filter { return filters }
    return [filter]
  }

  private mutating func sequence() throws(TextError) -> Filter {
    var filters: [Filter] = []
    repeat { filters += Self.flattened(try alternatives()) } while cursor.take(",")
    return filters.count == 1 ? filters[0] : .and(filters)
  }

  private mutating func alternatives() throws(TextError) -> Filter {
    var filters: [Filter] = []
    repeat {
      let filter = try conjunction()
      if case .or(let inner) = filter { filters += inner } else { filters.append(filter) }
    } while take(.or)
    return filters.count == 1 ? filters[0] : .or(filters)
  }

  private mutating func conjunction() throws(TextError) -> Filter {
    var filters: [Filter] = []
    repeat {
      filters += Self.flattened(try term())
      cursor.skipSpace()
      if !isAtEnd, Joint.found(at: cursor) == nil {
        throw TextError(column: cursor.column, "Expected \"and\", \"or\" or the end here, found \"\(cursor.found)\".")
      }
    } while take(.and)
    return filters.count == 1 ? filters[0] : .and(filters)
  }

  private static func flattened(_ filter: Filter) -> [Filter] {
    if case .and(let inner) = filter { inner } else { [filter] }
  }

  private var isAtEnd: Bool {
    cursor.isAtEnd || cursor.next == ")" || cursor.next == "," || ending == .line && ClauseWord.found(at: cursor) != nil
  }

  private mutating func take(_ joint: Joint) -> Bool {
    guard let found = Joint.found(at: cursor), found.joint == joint else { return false }
    cursor.position += found.length
    return true
  }

  private mutating func term() throws(TextError) -> Filter {
    cursor.skipSpace()
    let start = cursor.column
    guard cursor.take("(") else { return .field(try condition()) }
    depth += 1
    if depth > Self.depthLimit {
      throw TextError(column: start, "Parentheses are nested more than \(Self.depthLimit) levels deep.")
    }
    let filter = try sequence()
    guard cursor.take(")") else {
      throw TextError(column: cursor.column, "Expected \")\" for the \"(\" in column \(start).")
    }
    depth -= 1
    openText = nil
    return filter
  }

  // MARK: Conditions

  private mutating func condition() throws(TextError) -> FieldFilter {
    let field = try field()
    let op: FieldFilter.Operator
    do throws(TextError) { op = try OperatorText.read(&cursor) } catch {
      throw TextError(column: error.column, error.reason + textHint)
    }
    cursor.skipSpace()
    let start = cursor.position
    if cursor.isAtEnd {
      throw TextError(
        column: cursor.column, "Expected a value after \(op.rawValue). Write \"\" for an empty string.")
    }
    if op.takesList, cursor.next != "[" {
      throw TextError(column: cursor.column, "Expected a list in brackets, such as [CA, NV].")
    }
    let isPlain = cursor.next.map { !"{[\"'".unicodeScalars.contains($0) } ?? false
    let reader = ValueReader(database: database, isName: field.isDocumentID)
    let value = try reader.value(&cursor, until: ending)
    openText = isPlain ? start : nil
    if !field.isDocumentID { return FieldFilter(field, op, value) }
    do throws(TextError) {
      return FieldFilter(field, op, try DocumentName.value(value, of: query, database))
    } catch {
      throw TextError(column: start + 1, error.reason)
    }
  }

  private mutating func field() throws(TextError) -> FieldPath {
    let start = cursor.position
    Self.skipField(&cursor, atMost: .max, until: nil)
    let name = cursor.text(start..<cursor.position)
    if name.isEmpty { throw TextError(column: start + 1, "Expected a field, as in 'state == CA'.\(textHint)") }
    if name.lowercased() == "not", !isAtOperator {
      throw TextError(column: start + 1, "Conditions cannot be negated. Use != or not in.")
    }
    return try FieldPathText.parse(name, column: start + 1)
  }

  private static func skipField(_ cursor: inout TextCursor, atMost limit: Int, until end: Unicode.Scalar?) {
    let start = cursor.position
    var isQuoted = false
    while let scalar = cursor.next, cursor.position - start < limit {
      let isEnd = scalar == end || scalar.properties.isWhitespace || "=!<>()".unicodeScalars.contains(scalar)
      if isEnd, !isQuoted { break }
      if scalar == "\\", isQuoted { cursor.position += 1 } else if scalar == "`" { isQuoted.toggle() }
      cursor.position += 1
    }
    cursor.position = min(cursor.position, cursor.scalars.count)
  }

  private var isAtOperator: Bool {
    var ahead = cursor
    ahead.skipSpace()
    return ahead.next.map { "=!<>".unicodeScalars.contains($0) } ?? true
  }

  /// A hint for the error message if an `and` or `or` may have been meant as part of a text.
  private var textHint: String {
    guard let openText else { return "" }
    let text = cursor.text(openText..<cursor.scalars.count).trimming()
    return " Quote text that contains \"and\" or \"or\": \(PlainText.quoted(String(text)))."
  }
}

extension FieldFilter.Operator {
  var takesList: Bool { self == .in || self == .notIn || self == .arrayContainsAny }
}

extension ConditionText {
  /// An `and` or `or` between two conditions, either as a word or as a sign.
  enum Joint: String {
    case and, or

    /// The `and` or `or` at a position, either as a word or as a sign, and its length in scalars.
    static func found(at cursor: TextCursor) -> (joint: Joint, length: Int)? {
      var ahead = cursor
      if ahead.take("&&") { return (.and, 2) }
      if ahead.take("||") { return (.or, 2) }
      guard let first = cursor.next, "aAoO".unicodeScalars.contains(first), cursor.mayBeginWord else { return nil }
      let word = cursor.word(at: cursor.position)
      let length = word.unicodeScalars.count
      guard let joint = Joint(rawValue: word.lowercased()) else { return nil }
      return cursor.isSpace(after: length) || cursor.scalars[cursor.position + length] == "(" ? (joint, length) : nil
    }
  }
}

/// A word that begins a clause in a line such as `cities where state == CA order by name limit 10`.
enum ClauseWord: String, CaseIterable {
  case `where`, order, limit, last

  /// The clause word at a position, if it is a separate word, and its length in scalars.
  static func found(at cursor: TextCursor) -> (word: ClauseWord, length: Int)? {
    guard let first = cursor.next, "wWoOlL".unicodeScalars.contains(first), cursor.mayBeginWord else { return nil }
    let text = cursor.word(at: cursor.position)
    let length = text.unicodeScalars.count
    guard let word = ClauseWord(rawValue: text.lowercased()), cursor.isSpace(after: length) else { return nil }
    return (word, length)
  }
}

extension TextCursor {
  /// Whether a separate word can start here.
  fileprivate var mayBeginWord: Bool {
    previous.properties.isWhitespace || ")]}\"'".unicodeScalars.contains(previous)
  }
}

extension ConditionText {
  /// The text form of a filter, which `parse` can read. References are written relative to the database.
  package static func text(of filter: Filter, in database: DatabaseID) -> String {
    switch filter {
    case .field(let filter):
      let value = DocumentJSON.line(of: filter.value, relativeTo: database)
      return "\(filter.path.canonicalText) \(filter.op.rawValue) \(value)"
    case .or(let filters): return filters.map { text(of: $0, in: database) }.joined(separator: " or ")
    case .and(let filters):
      let terms = filters.map { filter in
        if case .or = filter { "(\(text(of: filter, in: database)))" } else { text(of: filter, in: database) }
      }
      return terms.joined(separator: " and ")
    }
  }
}

/// The operator between a field and a value, which is a sign or a word.
package enum OperatorText {
  /// The recommended operators. The parser also accepts `=`, `array-contains`, `array-contains-any` and `not-in`.
  static let all = "==, !=, <, <=, >, >=, in, not in, contains, contains-any"

  /// Parses a text that consists only of an operator.
  package static func parse(_ text: String) throws(TextError) -> FieldFilter.Operator {
    var cursor = TextCursor(text)
    let op = try read(&cursor)
    cursor.skipSpace()
    if !cursor.isAtEnd { throw TextError(column: cursor.column, "Expected nothing more after the operator.") }
    return op
  }

  /// Parses the operator at the cursor. Skips whitespace before it.
  static func read(_ cursor: inout TextCursor) throws(TextError) -> FieldFilter.Operator {
    cursor.skipSpace()
    if cursor.isAtEnd || cursor.next == ")" {
      throw TextError(column: cursor.column, "Expected an operator after the field: \(all).")
    }
    let start = cursor.column
    for (sign, op) in signs where cursor.take(sign) {
      var ahead = cursor
      // Also checks for a sign after a space, so that "= = x" is not read as a comparison with "= x".
      if sign == "=" { ahead.skipSpace() }
      guard let next = ahead.next, "=!<>".unicodeScalars.contains(next) else { return op }
      throw TextError(
        column: start, "Expected one of \(all). Quote text that begins with \"\(next)\".")
    }
    let word = cursor.word(at: cursor.position)
    if let (op, length) = named(word, at: cursor) {
      cursor.position += length
      return op
    }
    throw TextError(column: start, "\"\(cursor.found)\" is not an operator. Expected one of \(all).\(hint(for: word))")
  }

  /// The operators that are signs. Longer signs come first, because `<=` begins with `<`.
  private static let signs: [(String, FieldFilter.Operator)] = [
    ("==", .equal), ("!=", .notEqual), ("<=", .lessThanOrEqual), (">=", .greaterThanOrEqual), ("<", .lessThan),
    (">", .greaterThan), ("=", .equal),
  ]

  private static let words: [String: FieldFilter.Operator] = [
    "in": .in, "not-in": .notIn, "contains": .arrayContains, "array-contains": .arrayContains,
    "contains-any": .arrayContainsAny, "array-contains-any": .arrayContainsAny,
  ]

  private static let prefix = "Match a prefix with >= and <, as in name >= Ma and name < Mb."
  private static let inside = "Firestore cannot search inside of strings."

  /// Operators of other languages, each with a hint.
  private static let foreign = [
    "is": "Write == to compare.", "equals": "Write == to compare.", "like": prefix,
    "startswith": prefix, "starts-with": prefix, "beginswith": prefix, "ilike": prefix, "endswith": inside,
    "ends-with": inside, "matches": inside, "regex": inside,
    "between": "Write two conditions, with >= and <=.", "exists": "Write != null.",
  ]

  private static func hint(for word: String) -> String {
    if let hint = foreign[word.lowercased()] { return " \(hint)" }
    return NearestName.suggestion(for: word, among: words.keys).map { " Did you mean \($0)?" } ?? ""
  }

  /// - Returns: the operator, and its length in scalars.
  private static func named(_ word: String, at cursor: TextCursor) -> (FieldFilter.Operator, Int)? {
    let length = word.unicodeScalars.count
    if word.lowercased() == "not" {
      var ahead = cursor
      ahead.position += length
      ahead.skipSpace()
      let second = ahead.word(at: ahead.position)
      guard second.lowercased() == "in" else { return nil }
      return (.notIn, ahead.position + second.unicodeScalars.count - cursor.position)
    }
    guard let op = words[word.lowercased()] else { return nil }
    let end = cursor.position + length
    let isWhole = cursor.isSpace(after: length) || "[{\"'".unicodeScalars.contains(cursor.scalars[end])
    return isWhole ? (op, length) : nil
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// Conditions, as `--where` takes them: `state == CA and (population > 1000 or tags contains west)`. `and` binds tighter
/// than `or`; values are `ValueText`.
struct ConditionText {
  /// What stands between two conditions.
  enum Joint: String {
    case and, or

    /// The joint at a place: a word of its own, or a sign.
    init?(at cursor: TextCursor) {
      guard let joint = Self.length(at: cursor) else { return nil }
      self = joint.joint
    }

    static func length(at cursor: TextCursor) -> (joint: Joint, length: Int)? {
      var ahead = cursor
      if ahead.take("&&") { return (.and, 2) }
      if ahead.take("||") { return (.or, 2) }
      let before = cursor.position > 0 ? cursor.scalars[cursor.position - 1] : " "
      guard let first = cursor.next, "aAoO".unicodeScalars.contains(first),
        before.properties.isWhitespace || ")]}\"'".unicodeScalars.contains(before)
      else { return nil }
      let word = cursor.word(at: cursor.position)
      guard let joint = Joint(rawValue: word.lowercased()) else { return nil }
      let end = cursor.position + word.unicodeScalars.count
      let after = end < cursor.scalars.count ? cursor.scalars[end] : " "
      return after.properties.isWhitespace || after == "(" ? (joint, word.unicodeScalars.count) : nil
    }
  }

  /// Parentheses inside parentheses: as many as anybody reads, and few enough for the stack.
  private static let depthLimit = 50

  private let query: Query
  private let database: DatabaseID
  private var cursor: TextCursor
  private var depth = 0
  /// Where a value without quotes began that a joint has ended.
  private var openText: Int?

  /// - Parameter query: what is filtered; ids compared with `__name__` are completed to paths below its collection.
  /// - Returns: filters that must all hold.
  static func parse(_ text: String, of query: Query, database: DatabaseID) throws(ArgumentError) -> [Filter] {
    var parser = ConditionText(query: query, database: database, cursor: TextCursor(text))
    let filter = try parser.alternatives()
    if !parser.cursor.isAtEnd {
      throw ArgumentError(
        column: parser.cursor.column,
        "There is no \"(\" to this \")\". Text with a parenthesis in it is quoted.")
    }
    if case .and(let filters) = filter { return filters }
    return [filter]
  }

  private init(query: Query, database: DatabaseID, cursor: TextCursor) {
    (self.query, self.database, self.cursor) = (query, database, cursor)
  }

  // MARK: Expressions

  private mutating func alternatives() throws(ArgumentError) -> Filter {
    var filters: [Filter] = []
    repeat {
      let filter = try conjunction()
      if case .or(let inner) = filter { filters += inner } else { filters.append(filter) }
    } while take(.or)
    return filters.count == 1 ? filters[0] : .or(filters)
  }

  private mutating func conjunction() throws(ArgumentError) -> Filter {
    var filters: [Filter] = []
    repeat {
      let filter = try term()
      if case .and(let inner) = filter { filters += inner } else { filters.append(filter) }
      cursor.skipSpace()
      if !cursor.isAtEnd, cursor.next != ")", Joint(at: cursor) == nil {
        throw ArgumentError(column: cursor.column, "Expected and, or or the end here, found \"\(cursor.found)\".")
      }
    } while take(.and)
    return filters.count == 1 ? filters[0] : .and(filters)
  }

  private mutating func take(_ joint: Joint) -> Bool {
    guard let found = Joint.length(at: cursor), found.joint == joint else { return false }
    cursor.position += found.length
    return true
  }

  private mutating func term() throws(ArgumentError) -> Filter {
    cursor.skipSpace()
    let start = cursor.column
    guard cursor.take("(") else { return .field(try condition()) }
    depth += 1
    if depth > Self.depthLimit {
      throw ArgumentError(column: start, "Parentheses are nested more than \(Self.depthLimit) levels deep.")
    }
    let filter = try alternatives()
    guard cursor.take(")") else {
      throw ArgumentError(column: cursor.column, "Expected \")\" for the \"(\" in column \(start).")
    }
    depth -= 1
    openText = nil
    return filter
  }

  // MARK: Conditions

  private mutating func condition() throws(ArgumentError) -> FieldFilter {
    let field = try field()
    let op = try `operator`()
    cursor.skipSpace()
    let start = cursor.position
    if cursor.isAtEnd {
      throw ArgumentError(
        column: cursor.column, "Expected a value after \(op.rawValue). An empty string is written \"\".")
    }
    let takesList = [.in, .notIn, .arrayContainsAny].contains(op)
    if takesList, cursor.next != "[" {
      throw ArgumentError(column: cursor.column, "Expected a list in brackets, such as [CA, NV].")
    }
    let isPlain = cursor.next.map { !"{[\"'".unicodeScalars.contains($0) } ?? false
    let reader = ValueText(database: database, isName: field.isDocumentID)
    let value = try reader.value(&cursor, until: .condition)
    openText = isPlain ? start : nil
    if !field.isDocumentID { return FieldFilter(field, op, value) }
    do throws(ArgumentError) {
      return FieldFilter(field, op, try DocumentName.value(value, of: query, database))
    } catch {
      throw ArgumentError(column: start + 1, error.reason)
    }
  }

  private mutating func field() throws(ArgumentError) -> FieldPath {
    let start = cursor.position
    var isQuoted = false
    while let scalar = cursor.next {
      if !isQuoted, scalar.properties.isWhitespace || "=!<>()".unicodeScalars.contains(scalar) { break }
      if scalar == "\\", isQuoted { cursor.position += 1 } else if scalar == "`" { isQuoted.toggle() }
      cursor.position += 1
    }
    cursor.position = min(cursor.position, cursor.scalars.count)
    let name = cursor.text(start..<cursor.position)
    if name.isEmpty { throw ArgumentError(column: start + 1, "Expected a field, as in 'state == CA'.\(textHint)") }
    if name.lowercased() == "not", !isAtOperator {
      throw ArgumentError(column: start + 1, "Conditions cannot be negated; there are != and not in.")
    }
    return try FieldName.parse(name, column: start + 1)
  }

  private var isAtOperator: Bool {
    var ahead = cursor
    ahead.skipSpace()
    return ahead.isAtEnd || "=!<>".unicodeScalars.contains(ahead.scalars[ahead.position])
  }

  // MARK: Operators

  private mutating func `operator`() throws(ArgumentError) -> FieldFilter.Operator {
    cursor.skipSpace()
    if cursor.isAtEnd || cursor.next == ")" {
      throw ArgumentError(
        column: cursor.column, "Expected an operator after the field: \(Self.operators).\(textHint)")
    }
    let start = cursor.column
    for (sign, op) in Self.signs where cursor.take(sign) {
      guard let next = cursor.next, "=!<>".unicodeScalars.contains(next) else { return op }
      throw ArgumentError(
        column: start, "Expected one of \(Self.operators); a text that begins with \"\(next)\" is quoted.")
    }
    let word = cursor.word(at: cursor.position)
    if let (op, length) = namedOperator(word) {
      cursor.position += length
      return op
    }
    if cursor.next == "=" { throw ArgumentError(column: cursor.column, "Write == to compare.") }
    let hint = Self.foreign[word.lowercased()].map { " \($0)" } ?? ""
    throw ArgumentError(
      column: cursor.column,
      "\"\(cursor.found)\" is not an operator. Expected one of \(Self.operators).\(hint)\(textHint)")
  }

  /// The longer ones first: "<=" begins with "<".
  private static let signs: [(String, FieldFilter.Operator)] = [
    ("==", .equal), ("!=", .notEqual), ("<=", .lessThanOrEqual), (">=", .greaterThanOrEqual), ("<", .lessThan),
    (">", .greaterThan),
  ]

  private static let words: [String: FieldFilter.Operator] = [
    "in": .in, "not-in": .notIn, "contains": .arrayContains, "array-contains": .arrayContains,
    "contains-any": .arrayContainsAny, "array-contains-any": .arrayContainsAny,
  ]

  static let operators = "==, !=, <, <=, >, >=, in, not in, contains, contains-any"

  /// What other languages have.
  private static let foreign = [
    "is": "Write == to compare.", "like": "A beginning is found with >= and <.",
    "between": "Write two conditions, with >= and <=.", "exists": "Write != null.",
  ]

  /// - Returns: the operator, and how many scalars it has.
  private func namedOperator(_ word: String) -> (FieldFilter.Operator, Int)? {
    let end = cursor.position + word.unicodeScalars.count
    if word.lowercased() == "not" {
      var ahead = cursor
      ahead.position = end
      ahead.skipSpace()
      let second = ahead.word(at: ahead.position)
      guard second.lowercased() == "in" else { return nil }
      return (.notIn, ahead.position + second.unicodeScalars.count - cursor.position)
    }
    guard let op = Self.words[word.lowercased()] else { return nil }
    let after = end < cursor.scalars.count ? cursor.scalars[end] : " "
    let isWhole = after.properties.isWhitespace || "[{\"'".unicodeScalars.contains(after)
    return isWhole ? (op, end - cursor.position) : nil
  }

  /// Said where something is missing behind a joint that may have been meant as part of a text.
  private var textHint: String {
    guard let openText else { return "" }
    let text = cursor.text(openText..<cursor.scalars.count).trimming()
    return " If the text has \"and\" or \"or\" in it, quote it: \(DocumentLine.quoted(String(text)))."
  }
}

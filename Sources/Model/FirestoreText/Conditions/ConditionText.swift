// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
package import FirestoreQuery

/// Conditions as people type them: `state == CA and (population > 1000 or tags contains west)`. `and` binds tighter than
/// `or`, a comma looser than both; values are read by `ValueReader`.
package struct ConditionText {
  /// The deepest nesting of parentheses: as deep as people read, and few enough levels for the stack.
  private static let depthLimit = 50

  private let query: Query
  private let database: DatabaseID
  private let ending: ValueReader.Ending
  private var cursor: TextCursor
  private var depth = 0
  /// The place at which a value without quotes began that a joint has ended.
  private var openText: Int?

  /// - Parameter query: what is filtered; ids compared with `__name__` are completed to paths below its collection.
  /// - Returns: filters that must all hold.
  package static func parse(_ text: String, of query: Query, database: DatabaseID) throws(TextError) -> [Filter] {
    var parser = ConditionText(query, database, .condition, TextCursor(text))
    return try parser.all()
  }

  /// Reads the conditions that begin at the cursor, up to the next clause of the line.
  static func read(_ cursor: inout TextCursor, of query: Query, database: DatabaseID) throws(TextError) -> [Filter] {
    var parser = ConditionText(query, database, .line, cursor)
    let filters = try parser.all()
    cursor = parser.cursor
    return filters
  }

  private init(_ query: Query, _ database: DatabaseID, _ ending: ValueReader.Ending, _ cursor: TextCursor) {
    (self.query, self.database, self.ending, self.cursor) = (query, database, ending, cursor)
  }

  /// Whether a comma stands at the cursor with a condition behind it; in `Smith, John` it is part of the text.
  static func isComma(at cursor: TextCursor) -> Bool {
    var ahead = cursor
    guard ahead.take(",") else { return false }
    repeat { ahead.skipSpace() } while ahead.take("(")
    let start = ahead.position
    // No field is longer, and so a text of commas costs no more than its length.
    skipField(&ahead, atMost: FieldPath.byteLimit, until: ",")
    // The error would be about a text that is no condition.
    guard ahead.position > start, let op = try? OperatorText.read(&ahead) else { return false }
    ahead.skipSpace()
    return !op.takesList || ahead.next == "["
  }

  // MARK: Expressions

  private mutating func all() throws(TextError) -> [Filter] {
    let filter = try sequence()
    if cursor.next == ")" {
      throw TextError(
        column: cursor.column, "There is no \"(\" to this \")\". Text with a parenthesis in it is quoted.")
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
        throw TextError(column: cursor.column, "Expected and, or or the end here, found \"\(cursor.found)\".")
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
        column: cursor.column, "Expected a value after \(op.rawValue). An empty string is written \"\".")
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
      throw TextError(column: start + 1, "Conditions cannot be negated; there are != and not in.")
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

  /// The addition to an error behind a joint that may have been meant as part of a text.
  private var textHint: String {
    guard let openText else { return "" }
    let text = cursor.text(openText..<cursor.scalars.count).trimming()
    return " If the text has \"and\" or \"or\" in it, quote it: \(PlainText.quoted(String(text)))."
  }
}

extension FieldFilter.Operator {
  var takesList: Bool { self == .in || self == .notIn || self == .arrayContainsAny }
}

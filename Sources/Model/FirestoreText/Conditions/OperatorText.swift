// SPDX-License-Identifier: Apache-2.0
package import FirestoreQuery
import Spelling

/// The operator between a field and a value: a sign or a word.
package enum OperatorText {
  /// All that are recommended; `=`, `array-contains`, `array-contains-any` and `not-in` are understood as well.
  static let all = "==, !=, <, <=, >, >=, in, not in, contains, contains-any"

  /// Reads a text that is an operator and nothing else.
  package static func parse(_ text: String) throws(TextError) -> FieldFilter.Operator {
    var cursor = TextCursor(text)
    let op = try read(&cursor)
    cursor.skipSpace()
    if !cursor.isAtEnd { throw TextError(column: cursor.column, "Expected nothing more after the operator.") }
    return op
  }

  /// Reads the operator at the cursor, behind white space or not.
  static func read(_ cursor: inout TextCursor) throws(TextError) -> FieldFilter.Operator {
    cursor.skipSpace()
    if cursor.isAtEnd || cursor.next == ")" {
      throw TextError(column: cursor.column, "Expected an operator after the field: \(all).")
    }
    let start = cursor.column
    for (sign, op) in signs where cursor.take(sign) {
      var ahead = cursor
      // A second sign behind a space is no comparison with "= x".
      if sign == "=" { ahead.skipSpace() }
      guard let next = ahead.next, "=!<>".unicodeScalars.contains(next) else { return op }
      throw TextError(
        column: start, "Expected one of \(all); a text that begins with \"\(next)\" is quoted.")
    }
    let word = cursor.word(at: cursor.position)
    if let (op, length) = named(word, at: cursor) {
      cursor.position += length
      return op
    }
    throw TextError(column: start, "\"\(cursor.found)\" is not an operator. Expected one of \(all).\(hint(for: word))")
  }

  /// Longer ones first: "<=" begins with "<".
  private static let signs: [(String, FieldFilter.Operator)] = [
    ("==", .equal), ("!=", .notEqual), ("<=", .lessThanOrEqual), (">=", .greaterThanOrEqual), ("<", .lessThan),
    (">", .greaterThan), ("=", .equal),
  ]

  private static let words: [String: FieldFilter.Operator] = [
    "in": .in, "not-in": .notIn, "contains": .arrayContains, "array-contains": .arrayContains,
    "contains-any": .arrayContainsAny, "array-contains-any": .arrayContainsAny,
  ]

  /// Words of other languages.
  private static let foreign = [
    "is": "Write == to compare.", "equals": "Write == to compare.", "like": "A beginning is found with >= and <.",
    "between": "Write two conditions, with >= and <=.", "exists": "Write != null.",
  ]

  private static func hint(for word: String) -> String {
    if let hint = foreign[word.lowercased()] { return " \(hint)" }
    return NearestName.suggestion(for: word, among: words.keys).map { " Is \($0) meant?" } ?? ""
  }

  /// - Returns: the operator, and how many scalars it has.
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

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
import Spelling

/// A query on one line, as the palette and scenarios take it:
///
///     cities where population >= 1000 and state == CA order by population desc, name limit 10
///
/// `**/cities` is a collection group. The words of clauses end a text without quotes.
package struct QueryLine {
  private let database: DatabaseID
  private var cursor: TextCursor

  /// - Throws: why the text is no query, or none that Firestore answers.
  package static func parse(_ text: String, in database: DatabaseID) throws(TextError) -> Query {
    var line = QueryLine(database: database, cursor: TextCursor(text))
    let query = try line.query()
    do throws(QueryError) { try query.validate() } catch { throw TextError(column: 1, error.message) }
    return query
  }

  private mutating func query() throws(TextError) -> Query {
    var query = try source()
    while true {
      cursor.skipSpace()
      if cursor.isAtEnd { return query }
      let start = cursor.column
      guard let (word, length) = ClauseWord.found(at: cursor) else { throw stray() }
      cursor.position += length
      switch word {
      case .where: query.filters += try ConditionText.read(&cursor, of: query, database: database)
      case .order: query.explicitOrderBy += try orders()
      case .limit, .last:
        if query.limit != nil { throw TextError(column: start, "There is a limit before this one.") }
        query.limit = try limit()
        query.limitType = word == .last ? .last : .first
      }
    }
  }

  private mutating func source() throws(TextError) -> Query {
    cursor.skipSpace()
    let column = cursor.column
    var path = cursor.take { !$0.properties.isWhitespace }
    if path.isEmpty { throw TextError(column: column, "Expected a collection, such as orders.") }
    let isGroup = path.hasPrefix("**/")
    if isGroup { path.removeFirst(3) }
    do throws(ModelError) {
      let path = try ResourcePath(validating: path)
      return isGroup ? Query(path: .root, collectionGroup: path.text) : Query(path: path)
    } catch { throw TextError(column: column, error.message) }
  }

  private mutating func orders() throws(TextError) -> [OrderBy] {
    cursor.skipSpace()
    if cursor.word(at: cursor.position).lowercased() == "by", cursor.isSpace(after: 2) {
      cursor.position += 2
      cursor.skipSpace()
    }
    let start = cursor.position
    var isQuoted = false
    while let next = cursor.next, isQuoted || cursor.position == start || ClauseWord.found(at: cursor) == nil {
      if next == "\\", isQuoted { cursor.position += 1 } else if next == "`" { isQuoted.toggle() }
      cursor.position += 1
    }
    cursor.position = min(cursor.position, cursor.scalars.count)
    do throws(TextError) { return try OrderText.parse(cursor.text(start..<cursor.position)) } catch {
      throw error.moved(by: start)
    }
  }

  private mutating func limit() throws(TextError) -> Int {
    cursor.skipSpace()
    let start = cursor.position
    let text = cursor.take { !$0.properties.isWhitespace }
    do throws(TextError) { return try LimitText.parse(text) } catch { throw error.moved(by: start) }
  }

  private func stray() -> TextError {
    let found = cursor.found
    let near = NearestName.suggestion(for: found, among: ClauseWord.allCases.map(\.rawValue))
    let hint = near.map { " Is \($0) meant?" } ?? ""
    return TextError(
      column: cursor.column, "Expected where, order by, limit or last here, found \"\(found)\".\(hint)")
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
import Spelling

/// Reads a query on one line, in the syntax of the palette and of scenarios:
///
///     cities where population >= 1000 and state == CA order by population desc, name limit 10
///
/// The path `**/cities` means a collection group. A clause word ends unquoted text.
package struct QueryLine {
  private let database: DatabaseID
  private var cursor: TextCursor

  /// - Throws: an error if the text is not a query, or if Firestore does not support the query.
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
        if query.limit != nil { throw TextError(column: start, "The query already has a limit.") }
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
    let hint = near.map { " Did you mean \($0)?" } ?? ""
    return TextError(
      column: cursor.column, "Expected where, order by, limit or last here, found \"\(found)\".\(hint)")
  }
}

/// Parses a query's order as users type it: `total desc, name`. A descending field is written as `total desc`,
/// `total:desc` or `-total`. A name that contains one of these signs needs back-quotes.
package enum OrderText {
  /// Parses one or more fields, separated by commas.
  package static func parse(_ text: String) throws(TextError) -> [OrderBy] {
    let cursor = TextCursor(text)
    var orders: [OrderBy] = []
    var start = 0
    var isQuoted = false
    var position = 0
    while position <= cursor.scalars.count {
      let scalar = position < cursor.scalars.count ? cursor.scalars[position] : ","
      if position == cursor.scalars.count || scalar == "," && !isQuoted {
        if let order = try order(cursor, start..<position) { orders.append(order) }
        start = position + 1
      } else if scalar == "\\", isQuoted {
        position = min(position + 1, cursor.scalars.count - 1)
      } else if scalar == "`" {
        isQuoted.toggle()
      }
      position += 1
    }
    if orders.isEmpty { throw TextError(column: 1, "Expected a field, as in total desc.") }
    return orders
  }

  /// - Returns: `nil` if the text contains only white space.
  private static func order(_ cursor: TextCursor, _ range: Range<Int>) throws(TextError) -> OrderBy? {
    var (start, end) = (range.lowerBound, range.upperBound)
    func trim() {
      while start < end, cursor.scalars[start].properties.isWhitespace { start += 1 }
      while end > start, cursor.scalars[end - 1].properties.isWhitespace { end -= 1 }
    }
    trim()
    if start == end { return nil }
    let column = start + 1
    let isReversed = cursor.scalars[start] == "-"
    if isReversed { start += 1 }
    var direction: OrderBy.Direction?
    if end > start, cursor.scalars[end - 1] != "`",
      let mark = cursor.scalars[start..<end].lastIndex(where: { $0 == ":" || $0.properties.isWhitespace })
    {
      direction = try self.direction(cursor.text(mark + 1..<end), column: mark + 2)
      end = mark
      trim()
    }
    if isReversed, direction != nil {
      throw TextError(column: column, "Use either a minus before the field or a direction after it, not both.")
    }
    let path = try FieldPathText.parse(cursor.text(start..<end), column: start + 1)
    return OrderBy(path, isReversed ? .descending : direction ?? .ascending)
  }

  private static func direction(_ word: String, column: Int) throws(TextError) -> OrderBy.Direction {
    switch word.lowercased() {
    case "asc", "ascending": return .ascending
    case "desc", "descending": return .descending
    default:
      let initial = word.lowercased().first
      let hint = initial == "d" ? " Did you mean desc?" : initial == "a" ? " Did you mean asc?" : ""
      throw TextError(column: column, "\"\(word)\" is not a direction. Expected asc or desc.\(hint)")
    }
  }
}

/// Parses a cursor in a query's order, such as the argument of `--start-at`. A cursor is the value for the first
/// ordering, or a list of values for several orderings. If the list has a value for every ordering, it may end with a
/// document's id.
package enum CursorText {
  package static func parse(
    _ text: String, isInclusive: Bool, of query: Query, database: DatabaseID
  ) throws(TextError) -> Bound {
    let orders = query.orderBy
    func isName(_ index: Int) -> Bool { index < orders.count && orders[index].path.isDocumentID }
    var values: [Value]
    var cursor = TextCursor(text)
    cursor.skipSpace()
    if cursor.next == "[" {
      values = try ValueReader(database: database).list(&cursor, isName: isName)
      cursor.skipSpace()
      if !cursor.isAtEnd { throw TextError(column: cursor.column, "Expected nothing more after the list.") }
    } else {
      values = [try ValueReader(database: database, isName: isName(0)).value(of: text)]
    }
    if values.isEmpty { throw TextError("Expected at least one value.") }
    if values.count > orders.count {
      let named = orders.map(\.path.canonicalText).joined(separator: ", ")
      throw TextError("There are \(values.count) values, but the query is ordered only by \(named).")
    }
    for index in values.indices where isName(index) {
      values[index] = try DocumentName.value(values[index], of: query, database)
    }
    return Bound(values: values, isInclusive: isInclusive)
  }
}

/// Parses the maximum document count of a query.
package enum LimitText {
  package static func parse(_ text: String) throws(TextError) -> Int {
    guard let limit = Int(text), (1...Query.maximumLimit).contains(limit) else {
      let found = text.isEmpty ? "" : ", found \"\(text)\""
      throw TextError(column: 1, "Expected a number from 1 to \(Query.maximumLimit) as the limit\(found).")
    }
    return limit
  }
}

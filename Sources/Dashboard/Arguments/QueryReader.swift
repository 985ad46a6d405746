// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

/// Reads a query from one line: `cities where population >= 1000 and state == CA order by population desc limit 10`;
/// `**/cities` is a collection group.
struct QueryReader {
  private let text: [Character]
  private let database: DatabaseID
  private var position = 0

  static func read(_ text: String, in database: DatabaseID) throws(TextError) -> Query {
    var reader = QueryReader(text, database)
    let query = try reader.query()
    do throws(QueryError) { try query.validate() } catch { throw TextError(column: 1, reason: error.message) }
    return query
  }

  private init(_ text: String, _ database: DatabaseID) {
    self.text = Array(text)
    self.database = database
  }

  private mutating func query() throws(TextError) -> Query {
    var query = try source()
    if word("where") {
      repeat { query.filters.append(.field(try filter())) } while word("and") || sign(",")
    }
    if word("order") {
      _ = word("by")
      repeat { query.explicitOrderBy.append(try order()) } while sign(",")
    }
    let isLast = word("last")
    if isLast || word("limit") {
      let start = start
      guard let limit = Int(next()), limit > 0 else { throw error("a limit is a number above 0", at: start) }
      query.limit = limit
      if isLast { query.limitType = .last }
    }
    let rest = start
    let left = next()
    if !left.isEmpty { throw error("\(left) is not expected here: where, and, order by, limit", at: rest) }
    return query
  }

  private mutating func source() throws(TextError) -> Query {
    let place = start
    let path = next()
    if path.isEmpty { throw error("a collection is missing, such as orders", at: place) }
    do throws(ModelError) {
      if path.hasPrefix("**/") {
        return Query(path: .root, collectionGroup: try ResourcePath(validating: String(path.dropFirst(3))).text)
      }
      return Query(path: try ResourcePath(validating: path))
    } catch { throw TextError(column: place + 1, reason: error.message) }
  }

  private mutating func filter() throws(TextError) -> FieldFilter {
    let path = try field()
    let place = start
    let typed = op()
    guard let op = FieldFilter.Operator(rawValue: typed == "=" ? "==" : typed) else {
      throw error(typed.isEmpty ? "an operator is missing: ==, >=, in …" : "\(typed) is no operator", at: place)
    }
    let start = start
    let value = try value()
    guard let value else { throw error("a value is missing after \(op.rawValue)", at: start) }
    return FieldFilter(path, op, value)
  }

  private mutating func order() throws(TextError) -> OrderBy {
    let path = try field()
    if word("desc") { return OrderBy(path, .descending) }
    _ = word("asc")
    return OrderBy(path)
  }

  private mutating func field() throws(TextError) -> FieldPath {
    let place = start
    let name = take { !$0.isWhitespace && !"=!<>,".contains($0) }
    if name.isEmpty { throw error("a field is missing", at: place) }
    do throws(ModelError) { return try FieldPath(validating: name) } catch {
      throw TextError(column: place + 1, reason: error.message)
    }
  }

  /// `nil` for none.
  private mutating func value() throws(TextError) -> Value? {
    let place = start
    guard let first = place < text.count ? text[place] : nil else { return nil }
    if first == "\"" || first == "[" {
      let close: Character = first == "[" ? "]" : first
      guard let end = text[(place + 1)...].firstIndex(of: close) else { throw error("\(close) is missing", at: place) }
      position = end + 1
      let typed = String(text[place...end])
      do { return try TypedValue.any(typed, database: database) } catch {
        throw TextError(column: place + error.column, reason: error.reason)
      }
    }
    let typed = take { !$0.isWhitespace && $0 != "," }
    return typed.isEmpty ? nil : TypedValue.comparable(typed)
  }

  // MARK: Words

  private func error(_ reason: String, at place: Int) -> TextError { TextError(column: place + 1, reason: reason) }

  /// Where the next word begins.
  private var start: Int {
    var place = position
    while place < text.count, text[place].isWhitespace { place += 1 }
    return place
  }

  private mutating func take(while isPart: (Character) -> Bool) -> String {
    let first = start
    var end = first
    while end < text.count, isPart(text[end]) { end += 1 }
    position = end
    return String(text[first..<end])
  }

  private mutating func next() -> String { take { !$0.isWhitespace } }

  private mutating func op() -> String {
    let first = start
    let isSign = first < text.count && "=!<>".contains(text[first])
    return take { isSign ? "=!<>".contains($0) : !$0.isWhitespace }
  }

  private mutating func word(_ wanted: String) -> Bool {
    let before = position
    if take(while: { !$0.isWhitespace && $0 != "," }).lowercased() == wanted { return true }
    position = before
    return false
  }

  private mutating func sign(_ wanted: Character) -> Bool {
    let place = start
    guard place < text.count, text[place] == wanted else { return false }
    position = place + 1
    return true
  }
}

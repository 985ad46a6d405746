// SPDX-License-Identifier: Apache-2.0
package import FirestoreQuery

/// The order of a query as people type it: `total desc, name`. A field is reversed by `total desc`, `total:desc` or
/// `-total`; one with such signs in its name stands in back-quotes.
package enum OrderText {
  /// Reads fields with commas between them, at least one.
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

  /// - Returns: `nil` for white space.
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
      throw TextError(column: column, "A minus before the field and a direction behind it are one too many.")
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
      let hint = initial == "d" ? " Is desc meant?" : initial == "a" ? " Is asc meant?" : ""
      throw TextError(column: column, "\"\(word)\" is not a direction. Expected asc or desc.\(hint)")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreQuery

/// `field`, `field:desc` or `field desc`, as `--order` takes it.
enum OrderText {
  static func parse(_ text: String) throws(ArgumentError) -> OrderBy {
    var field = text.trimming()
    var direction = OrderBy.Direction.ascending
    if field.last != "`", let mark = field.lastIndex(where: { $0 == ":" || $0.isWhitespace }) {
      let word = field[field.index(after: mark)...]
      guard let named = Self.direction(word) else {
        let column = text.unicodeScalars.distance(from: text.startIndex, to: word.startIndex) + 1
        throw ArgumentError(column: column, hint(for: field) ?? "\"\(word)\" is not a direction. Expected asc or desc.")
      }
      direction = named
      field = field[..<mark].trimming()
    }
    if let hint = hint(for: field) { throw ArgumentError(column: 1, hint) }
    return OrderBy(try FieldName.parse(String(field)), direction)
  }

  private static func direction(_ word: Substring) -> OrderBy.Direction? {
    switch word.lowercased() {
    case "asc", "ascending": .ascending
    case "desc", "descending": .descending
    default: nil
    }
  }

  /// What other languages write.
  private static func hint(for field: Substring) -> String? {
    if field.hasPrefix("-") { return "To reverse the order write \(field.dropFirst()):desc." }
    if !field.contains("`"), field.contains(",") { return "Each field has an order of its own: --order a --order b." }
    return nil
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// `field`, `field:asc` or `field:desc`, as `--order` takes it.
enum OrderText {
  static func parse(_ text: String) throws(ArgumentError) -> OrderBy {
    var field = text.trimming()
    var direction = OrderBy.Direction.ascending
    if field.last != "`", let colon = field.lastIndex(of: ":") {
      let word = field[field.index(after: colon)...]
      switch word {
      case "asc": break
      case "desc": direction = .descending
      default:
        let column = field.unicodeScalars.distance(from: field.startIndex, to: colon) + 2
        throw ArgumentError(column: column, "\"\(word)\" is not a direction. Expected asc or desc.")
      }
      field = field[..<colon]
    }
    if let hint = hint(for: String(field)) { throw ArgumentError(column: 1, hint) }
    return OrderBy(try FieldName.parse(String(field)), direction)
  }

  /// What other languages write.
  private static func hint(for field: String) -> String? {
    if let match = field.wholeMatch(of: /([^\s`,]+)\s+(?i)(asc|desc|ascending|descending)/) {
      let isDescending = match.output.2.lowercased().hasPrefix("desc")
      return "The direction stands after a colon: \(match.output.1):\(isDescending ? "desc" : "asc")."
    }
    if field.hasPrefix("-") { return "To reverse the order write \(field.dropFirst()):desc." }
    if !field.contains("`"), field.contains(",") { return "Each field has an order of its own." }
    return nil
  }
}

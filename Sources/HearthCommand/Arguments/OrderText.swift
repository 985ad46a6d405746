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
    do throws(ModelError) {
      return OrderBy(try FieldPath(validating: String(field)), direction)
    } catch {
      throw ArgumentError(column: 1, error.message)
    }
  }
}

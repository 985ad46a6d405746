// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel

extension ValueReader {
  /// A text that means the value where such an ending follows: a string without quotes where that reads as itself, a
  /// time as RFC 3339.
  package static func text(of value: Value, in database: DatabaseID, until ending: Ending = .line) -> String {
    let plain: String
    switch value {
    case .string(let text): plain = text
    case .timestamp(let time): plain = time.rfc3339Text
    default: return DocumentJSON.line(of: value, relativeTo: database)
    }
    var cursor = TextCursor(plain)
    // A text that is refused, or is only in part the value, is written as JSON.
    let read = try? ValueReader(database: database).value(&cursor, until: ending)
    let isWhole = read == value && cursor.isAtEnd && !plain.contains(where: \.isNewline)
    return isWhole ? plain : DocumentJSON.line(of: value, relativeTo: database)
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// What `/` means in the collection browser: an id prefix and `field:value` words, all of which must hold. The server
/// or the cache evaluates it, so a collection of any size is filtered without reading it.
struct BrowserFilter: Hashable, Sendable {
  var text: String
  var prefix = ""
  var filters: [Filter] = []

  /// - Returns: `nil` for blank text.
  /// - Throws: `ModelError` for a field that is not a field path.
  init?(_ text: String) throws(ModelError) {
    self.text = text
    for word in Self.words(of: text) {
      if let colon = word.firstIndex(of: ":"), colon > word.startIndex {
        let path = try FieldPath(validating: String(word[..<colon]))
        let value = TypedValue.scalar(String(word[word.index(after: colon)...]))
        filters.append(.field(FieldFilter(path, .equal, value)))
      } else {
        prefix = word
      }
    }
    if prefix.isEmpty, filters.isEmpty { return nil }
  }

  /// Parts at blanks outside double quotes.
  static func words(of text: String) -> [String] {
    var words: [String] = []
    var word = ""
    var isQuoted = false
    for character in text {
      if character == "\"" { isQuoted.toggle() }
      if character == " ", !isQuoted {
        if !word.isEmpty { words.append(word) }
        word = ""
      } else {
        word.append(character)
      }
    }
    return word.isEmpty ? words : words + [word]
  }
}

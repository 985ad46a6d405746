// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
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

/// Words that must all occur, `!word` that must not. Capital letters in a word make it case-sensitive.
struct WordFilter: Hashable, Sendable {
  private struct Word: Hashable, Sendable {
    var text: String
    var isExcluded: Bool
    var isExact: Bool
  }

  let text: String
  private let words: [Word]

  init(_ text: String) {
    self.text = text
    words = text.split(separator: " ").compactMap { part in
      let isExcluded = part.hasPrefix("!")
      let word = isExcluded ? String(part.dropFirst()) : String(part)
      return word.isEmpty ? nil : Word(text: word, isExcluded: isExcluded, isExact: word != word.lowercased())
    }
  }

  var isEmpty: Bool { words.isEmpty }

  func matches(_ candidate: String) -> Bool {
    if words.isEmpty { return true }
    let lowered = candidate.lowercased()
    return words.allSatisfy { word in (word.isExact ? candidate : lowered).contains(word.text) != word.isExcluded }
  }
}

/// Values as typed into a filter or a listener: quotes are optional around strings that look like nothing else.
enum TypedValue {
  /// `true`, `null`, `42`, `4.2`, `"text"`, or text.
  static func scalar(_ text: String) -> Value {
    switch text {
    case "null": return .null
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "NaN": return .double(.nan)
    default: break
    }
    if let number = Int64(text) { return .integer(number) }
    if let first = text.unicodeScalars.first, "-+.0123456789".unicodeScalars.contains(first), let number = Double(text)
    {
      return .double(number)
    }
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
      return .string(String(text.dropFirst().dropLast()))
    }
    return .string(text)
  }

  /// What has to be typed for `any` to read the value.
  static func text(of value: Value) -> String {
    switch value {
    case .null: return "null"
    case .boolean(let flag): return flag ? "true" : "false"
    case .integer(let number): return "\(number)"
    case .double(let number): return number.isNaN ? "NaN" : number == .infinity ? "+inf" : "\(number)"
    case .string(let text):
      let isPlain = !text.hasPrefix("[") && !text.hasPrefix("{") && scalar(text) == value
      return isPlain ? text : "\"\(text)\""
    default: return DocumentJSON.line(of: value)
    }
  }

  /// Any value: an array or object is read as JSON with `$` objects, everything else as `scalar`.
  static func any(_ text: String, database: DatabaseID) throws(JSONError) -> Value {
    guard text.hasPrefix("[") || text.hasPrefix("{") else { return scalar(text) }
    let parsed = try DocumentJSON.parse("{\"value\": \(text)}", database: database)
    return parsed.fields["value"] ?? .null
  }
}

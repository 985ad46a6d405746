// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Text without quotes where a value stands, which people may have meant as something else than text. Such a condition
/// would be legal and find nothing; with quotes the same text is never questioned.
enum PlainText {
  /// What the text is more likely to mean, and how to write that; `nil` for plain words.
  static func objection(to text: String) -> String? {
    otherWord(text) ?? secondCondition(text) ?? time(text) ?? reference(text)
  }

  /// How the text is written if it is meant as it stands.
  private static func asText(_ text: String) -> String { "Text that reads so is quoted: \(DocumentLine.quoted(text))." }

  // MARK: What else it may be

  /// Another language's words for JSON's.
  private static func otherWord(_ text: String) -> String? {
    let word: String
    switch text.lowercased() {
    case "true" where text != "true": word = "true"
    case "false" where text != "false": word = "false"
    case "null" where text != "null", "nil", "none", "undefined": word = "null"
    case "nan" where text != "NaN": word = "NaN"
    case "infinity", "+infinity": word = "double:Infinity"
    case "-infinity": word = "double:-Infinity"
    default: return nil
    }
    return "Is \(word) meant? It is written so. \(asText(text))"
  }

  private static func secondCondition(_ text: String) -> String? {
    let joint =
      #/
      , \s* ([^\s=!<>]+) \s*
      (==|!=|<=|>=|=|<|>|\s(in|not-in|(array-)?contains-any)\s*\[|\s(array-)?contains\s)
      /#
    guard let match = text.firstMatch(of: joint) else { return nil }
    return "There is a second condition, '\(text[match.output.1.startIndex...])': conditions are joined by and. "
      + asText(text)
  }

  private static func time(_ text: String) -> String? {
    guard let match = text.wholeMatch(of: /(\d{4})[-\/](\d{1,2})[-\/](\d{1,2})([Tt ].*)?/) else { return nil }
    func padded(_ digits: Substring) -> String { digits.count == 1 ? "0\(digits)" : String(digits) }
    let day = "\(match.output.1)-\(padded(match.output.2))-\(padded(match.output.3))"
    let time = Timestamp(rfc3339: text) == nil ? "\(day)T00:00:00Z" : text
    return "A time is written timestamp:\(time). \(asText(text))"
  }

  private static func reference(_ text: String) -> String? {
    let path = text.hasPrefix("/") ? String(text.dropFirst()) : text
    guard path.utf8.contains(UInt8(ascii: "/")), !path.contains(where: \.isWhitespace),
      let resource = try? ResourcePath(validating: path), resource.isDocument
    else { return nil }
    return "A reference is written ref:\(path). \(asText(text))"
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import Spelling

/// Text without quotes where a value stands, which people may have meant as something else than text. Such a condition
/// would be legal and find nothing, such a write leave what no query finds; with quotes, or `string:` before it, the same
/// text is never questioned.
package enum PlainText {
  /// The likelier meaning of a text in a condition, and how to write that; `nil` for plain words.
  static func objection(to text: String) -> String? {
    let reason = otherWord(text) ?? secondCondition(text) ?? time(text) ?? reference(text) ?? number(text) ?? type(text)
    return reason.map { "\($0) Text that reads so is quoted: \(quoted(text))." }
  }

  /// The likelier meaning of a text that is to be written. One with a slash in it is as likely a text as a path.
  package static func otherMeaning(ofWritten text: String) -> String? {
    otherWord(text) ?? time(text) ?? number(text) ?? type(text)
  }

  /// A JSON string.
  static func quoted(_ text: String) -> String { JSONSyntax(.string(text)).lineText }

  // MARK: Likely meanings

  /// The objection to another language's word for a JSON literal.
  private static func otherWord(_ text: String) -> String? {
    let word: String
    switch text.lowercased() {
    case "true" where text != "true": word = "true"
    case "false" where text != "false": word = "false"
    case "null" where text != "null", "nil", "none", "undefined": word = "null"
    case "nan" where text != "NaN": word = "NaN"
    case "infinity", "+infinity", "inf", "+inf": word = "double:Infinity"
    case "-infinity", "-inf": word = "double:-Infinity"
    default: return nil
    }
    return "Is \(word) meant? It is written so."
  }

  private static func secondCondition(_ text: String) -> String? {
    let joint =
      #/
      , \s* ([^\s=!<>]+) \s*
      (==|!=|<=|>=|=|<|>|\s(in|not-in|(array-)?contains-any)\s*\[|\s(array-)?contains\s)
      /#
    guard let match = text.firstMatch(of: joint) else { return nil }
    return "There is a second condition, '\(text[match.output.1.startIndex...])': conditions are joined by and."
  }

  private static func time(_ text: String) -> String? {
    guard let match = text.wholeMatch(of: /(\d{4})[-\/](\d{1,2})[-\/](\d{1,2})([Tt ].*)?/) else { return nil }
    func padded(_ digits: Substring) -> String { digits.count == 1 ? "0\(digits)" : String(digits) }
    let day = "\(match.output.1)-\(padded(match.output.2))-\(padded(match.output.3))"
    let time = Timestamp(rfc3339: text) == nil ? "\(day)T00:00:00Z" : text
    return "A time is written timestamp:\(time)."
  }

  private static func reference(_ text: String) -> String? {
    let path = text.hasPrefix("/") ? String(text.dropFirst()) : text
    // A text that is no path gets no hint.
    guard path.utf8.contains(UInt8(ascii: "/")), !path.contains(where: \.isWhitespace),
      let resource = try? ResourcePath(validating: path), resource.isDocument
    else { return nil }
    return "A reference is written ref:\(path)."
  }

  /// A number with a plus before it, where one of many digits is that of a telephone; or one that JSON writes with a
  /// digit on both sides of the point.
  private static func number(_ text: String) -> String? {
    if let number = text.wholeMatch(of: /\+(\d{1,6}(\.\d+)?)/)?.output.1 {
      return "Is \(number) meant? It is written so; a number is added by {\"$increment\": \(number)}."
    }
    guard let match = text.wholeMatch(of: /[+]?(-?)(\d*)\.(\d*)/),
      match.output.2.isEmpty != match.output.3.isEmpty
    else { return nil }
    func digits(_ part: Substring) -> Substring { part.isEmpty ? "0" : part }
    return "Is \(match.output.1)\(digits(match.output.2)).\(digits(match.output.3)) meant? It is written so."
  }

  /// The objection to an unknown type before a text, if there is a known type of a similar name.
  private static func type(_ text: String) -> String? {
    guard let match = text.wholeMatch(of: /([A-Za-z]{2,12}):([^\s\/].*)/) else { return nil }
    let (word, content) = (match.output.1.lowercased(), match.output.2)
    if word == "bool" || word == "boolean" { return "There is no type \(word):, for true and false are written so." }
    let names = TypedLiteral.names.split(separator: " ").map { String($0.dropLast()) }
    let near = NearestName.closest(to: word, among: names).flatMap { best in
      best.edits <= min(2, word.utf8.count / 4) ? best.name : nil
    }
    guard let name = otherTypes[word] ?? near else { return nil }
    return "There is no type \(match.output.1):. Is \(name):\(content) meant?"
  }

  /// Names that types have elsewhere.
  private static let otherTypes = [
    "int": "integer", "long": "integer", "number": "integer", "float": "double", "str": "string", "text": "string",
    "date": "timestamp", "datetime": "timestamp", "time": "timestamp", "ts": "timestamp", "reference": "ref",
    "blob": "bytes", "geopoint": "geo",
  ]
}

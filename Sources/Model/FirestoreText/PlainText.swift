// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import Spelling

/// Checks unquoted text that the user may have meant as a value of another type. A condition with such a text would be
/// valid but match nothing. A write would store a text that the user's queries do not find. Text in quotes or after
/// `string:` is not checked.
package enum PlainText {
  /// The value that the user more likely meant by a text in a condition, and how to write it; `nil` for plain words.
  static func objection(to text: String) -> String? {
    let reason =
      operation(text) ?? otherWord(text) ?? secondCondition(text) ?? time(text) ?? reference(text) ?? number(text)
      ?? type(text)
    return reason.map { "\($0) For text, write \(quoted(text))." }
  }

  /// The value that the user more likely meant by a text in a write; `nil` for plain words. A text with a slash is
  /// accepted, because it may well be text and not a path.
  package static func otherMeaning(ofWritten text: String) -> String? {
    operation(text) ?? otherWord(text) ?? time(text) ?? number(text) ?? type(text)
  }

  /// The text in quotes, so that a shell treats it as one word.
  package static func shellWord(_ text: String) -> String {
    var word = ""
    for character in text {
      if " \t\n'\"\\;#|&<>()$`*?!{}[]~".contains(character) { word.append("\\") }
      word.append(character)
    }
    return word
  }

  /// The text as a JSON string.
  static func quoted(_ text: String) -> String { JSONSyntax(.string(text)).lineText }

  // MARK: Likely meanings

  /// The objection to a value that looks like part of a comparison or an increment: `n==5`, `n=++1`.
  private static func operation(_ text: String) -> String? {
    if text.hasPrefix("=") {
      let value = text.drop { "= ".contains($0) }
      return value.isEmpty ? "A value does not begin with =." : "Did you mean \(value)? A value does not begin with =."
    }
    guard text.hasPrefix("++") else { return nil }
    let number = text.drop { $0 == "+" }
    return "To add to a number, write {\"$increment\": \(Int64(number) ?? 1)}."
  }

  /// The objection to a word that another language uses for true, false, null, NaN or infinity.
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
    return "Did you mean \(word)?"
  }

  private static func secondCondition(_ text: String) -> String? {
    let joint =
      #/
      , \s* ([^\s=!<>]+) \s*
      (==|!=|<=|>=|=|<|>|\s(in|not-in|(array-)?contains-any)\s*\[|\s(array-)?contains\s)
      /#
    guard let match = text.firstMatch(of: joint) else { return nil }
    return "Use \"and\", not a comma, before the condition '\(text[match.output.1.startIndex...])'."
  }

  private static func time(_ text: String) -> String? {
    guard let match = text.wholeMatch(of: /(\d{4})[-\/](\d{1,2})[-\/](\d{1,2})([Tt ].*)?/) else { return nil }
    func padded(_ digits: Substring) -> String { digits.count == 1 ? "0\(digits)" : String(digits) }
    let day = "\(match.output.1)-\(padded(match.output.2))-\(padded(match.output.3))"
    let time = Timestamp(rfc3339: text) == nil ? "\(day)T00:00:00Z" : text
    return "For a time, write timestamp:\(time)."
  }

  private static func reference(_ text: String) -> String? {
    let path = text.hasPrefix("/") ? String(text.dropFirst()) : text
    // Gives no hint for a text that is not a path.
    guard path.utf8.contains(UInt8(ascii: "/")), !path.contains(where: \.isWhitespace),
      let resource = try? ResourcePath(validating: path), resource.isDocument
    else { return nil }
    return "For a reference, write ref:\(path)."
  }

  /// The objection to a number that JSON does not allow. Such a number has a leading plus sign without looking like a
  /// phone number, or lacks a digit on one side of the decimal point.
  private static func number(_ text: String) -> String? {
    if let number = text.wholeMatch(of: /\+(\d{1,6}(\.\d+)?)/)?.output.1 {
      return "Did you mean \(number)? To add to a number, write {\"$increment\": \(number)}."
    }
    guard let match = text.wholeMatch(of: /[+]?(-?)(\d*)\.(\d*)/),
      match.output.2.isEmpty != match.output.3.isEmpty
    else { return nil }
    func digits(_ part: Substring) -> Substring { part.isEmpty ? "0" : part }
    return "Did you mean \(match.output.1)\(digits(match.output.2)).\(digits(match.output.3))?"
  }

  /// The objection to an unknown type prefix, if a known type has a similar name.
  private static func type(_ text: String) -> String? {
    guard let match = text.wholeMatch(of: /([A-Za-z]{2,12}):([^\s\/].*)/) else { return nil }
    let (word, content) = (match.output.1.lowercased(), match.output.2)
    if word == "bool" || word == "boolean" { return "Unknown type \(word):. Write true and false without a type." }
    let names = TypedLiteral.names.split(separator: " ").map { String($0.dropLast()) }
    let near = NearestName.closest(to: word, among: names).flatMap { best in
      best.edits <= min(2, word.utf8.count / 4) ? best.name : nil
    }
    guard let name = otherTypes[word] ?? near else { return nil }
    return "Unknown type \(match.output.1):. Did you mean \(name):\(content)?"
  }

  /// The names that other systems use for types.
  private static let otherTypes = [
    "int": "integer", "long": "integer", "number": "integer", "float": "double", "str": "string", "text": "string",
    "date": "timestamp", "datetime": "timestamp", "time": "timestamp", "ts": "timestamp", "reference": "ref",
    "blob": "bytes", "geopoint": "geo",
  ]
}

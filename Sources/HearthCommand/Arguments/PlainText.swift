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

/// The path of a field as people type it, `address.city` or `` `first name`.x ``.
///
/// Stricter than Firestore: outside of back-quotes stand letters, digits, `_` and `-` only. A colon that was forgotten,
/// or a second field after a comma, would otherwise name a field that no document has, and find nothing.
enum FieldName {
  /// - Parameter column: where the text begins in its argument.
  static func parse(_ text: String, column: Int = 1) throws(ArgumentError) -> FieldPath {
    if let (position, found) = stray(in: text) {
      throw ArgumentError(
        column: column + position,
        "\(name(of: found)) stands in a field's name. A name with other characters than letters, digits, _ and - is "
          + "written in back-quotes, such as `first name`.")
    }
    do throws(ModelError) {
      return try FieldPath(validating: text)
    } catch {
      throw ArgumentError(column: column, error.message)
    }
  }

  /// The first scalar outside of back-quotes that does not belong into a name.
  private static func stray(in text: String) -> (Int, Unicode.Scalar)? {
    var isQuoted = false
    var isEscaped = false
    for (position, scalar) in text.unicodeScalars.enumerated() {
      if isEscaped {
        isEscaped = false
      } else if scalar == "`" {
        isQuoted.toggle()
      } else if isQuoted {
        isEscaped = scalar == "\\"
      } else if !belongs(scalar) {
        return (position, scalar)
      }
    }
    return nil
  }

  private static func belongs(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".": true
    default: !scalar.isASCII && !scalar.properties.isWhitespace
    }
  }

  private static func name(of scalar: Unicode.Scalar) -> String {
    scalar.properties.isWhitespace ? "A space" : "\"\(scalar)\""
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// `field=value`, as `hearth update` takes it.
enum FieldAssignment {
  /// - Returns: the field's path, and the value as JSON: what reads as JSON is that, all else a string.
  static func parse(_ text: String) throws(ArgumentError) -> (path: FieldPath, value: JSONSyntax) {
    var isQuoted = false
    var isEscaped = false
    let separator = text.unicodeScalars.firstIndex { scalar in
      if isEscaped {
        isEscaped = false
      } else if scalar == "`" {
        isQuoted.toggle()
      } else if scalar == "\\" {
        isEscaped = isQuoted
      }
      return scalar == "=" && !isQuoted
    }
    guard let separator else {
      throw ArgumentError("Expected FIELD=VALUE, or one JSON object with all fields to change.")
    }
    let path = try FieldName.parse(String(text[..<separator]))
    let start = text.unicodeScalars.index(after: separator)
    let column = text.unicodeScalars.distance(from: text.startIndex, to: start) + 1
    return (path, try value(String(text[start...]), column))
  }

  private static func value(_ text: String, _ column: Int) throws(ArgumentError) -> JSONSyntax {
    do throws(JSONError) {
      return try JSONSyntax(parsing: text)
    } catch {
      // What begins like JSON was meant to be JSON.
      if let first = text.utf8.first, "{[\"".utf8.contains(first) { throw ArgumentError(error, from: column) }
      return JSONSyntax(.string(text))
    }
  }
}

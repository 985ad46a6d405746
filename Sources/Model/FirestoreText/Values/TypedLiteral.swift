// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
import FirestoreModel

/// `timestamp:2026-03-02T11:58:03Z`, `ref:users/ada`: a type that JSON does not have, before a text without quotes.
/// Each is short for the object with the same `$` name; `string:` and `integer:` are there for completeness.
package enum TypedLiteral {
  package static let names = "timestamp: ref: bytes: geo: vector: double: integer: string:"

  /// - Returns: the value as JSON, in which times, paths and the like are still to be checked; `nil` for a text that
  ///   begins with no type.
  package static func syntax(_ text: String, column: Int = 1) throws(TextError) -> JSONSyntax? {
    guard let colon = text.unicodeScalars.firstIndex(of: ":") else { return nil }
    let content = String(text[text.unicodeScalars.index(after: colon)...].trimming())
    switch text[..<colon] {
    // Text that is no time is handed on and refused with its place.
    case "timestamp": return object("timestamp", .string((try? InstantText.parse(content))?.rfc3339Text ?? content))
    case "ref": return object("ref", .string(content.hasPrefix("/") ? String(content.dropFirst()) : content))
    case "bytes": return object("bytes", .string(content))
    case "geo": return object("geo", numbers(content))
    case "vector": return object("vector", numbers(content))
    case "double":
      guard let number = Double(content) else { throw TextError(column: column, "double: stands before a number.") }
      return finite(number)
    case "integer":
      guard let number = Int64(content) else {
        throw TextError(column: column, "integer: stands before a whole number of 64 bits.")
      }
      return JSONSyntax(.integer(number))
    case "string": return JSONSyntax(.string(content))
    default: return nil
    }
  }

  private static func object(_ name: String, _ content: JSONSyntax.Kind) -> JSONSyntax {
    JSONSyntax(.object([JSONSyntax.Member("$" + name, JSONSyntax(content))]))
  }

  private static func finite(_ number: Double) -> JSONSyntax {
    if number.isFinite { return JSONSyntax(.double(number)) }
    return object("double", .string(number.isNaN ? "NaN" : number > 0 ? "Infinity" : "-Infinity"))
  }

  /// Numbers with commas between them, with brackets around or not.
  private static func numbers(_ text: String) -> JSONSyntax.Kind {
    let inner = text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text[...]
    return .array(
      inner.split(separator: ",", omittingEmptySubsequences: false).map { part in
        let word = String(part.trimming())
        return Double(word).map { $0.isFinite ? JSONSyntax(.double($0)) : JSONSyntax(.string(word)) }
          ?? JSONSyntax(.string(word))
      })
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import TerminalCanvas

/// Text that is safe to print anywhere, even to a pipe or a log that is later shown on a terminal. All parts from other
/// sources are escaped. They cannot move the cursor, reorder or hide text, or start a new line.
///
/// Functions that print accept only this type. These are its initializers:
///
/// | from | effect |
/// |---|---|
/// | a literal | the program's own words, unchanged; interpolations `\(…)` are escaped |
/// | `init(_:)` | text of any origin, escaped by `SafeText` |
/// | `init(lines:)` | text of any origin, escaped line by line |
/// | `init(json:)` | JSON of any origin, which stays JSON with the same values |
/// | `init(verbatim:)` | unchanged: for text made of safe parts, such as a picture of the screen |
package struct ShownText: Hashable, Sendable {
  package let text: String

  /// - Parameter verbatim: text that consists of safe parts and of the program's own control sequences. Each caller
  ///   explains in a comment why its text is safe.
  package init(verbatim text: String) { self.text = text }

  package init(_ text: String) { self.text = SafeText.sanitized(text) }

  /// - Parameter text: text of any origin. Its line breaks remain.
  package init(lines text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    self.text = lines.map { SafeText.sanitized(String($0)) }.joined(separator: "\n")
  }

  /// - Parameter text: JSON of any origin. Characters that could move the cursor, or reorder or hide text, are replaced
  ///   by JSON escapes. So a document that is copied from the screen has the same values. Line breaks remain.
  package init(json text: String) { self.text = JSONEscapes.escaped(text) }

  package var isEmpty: Bool { text.isEmpty }

  package static func + (first: ShownText, second: ShownText) -> ShownText {
    ShownText(verbatim: first.text + second.text)
  }
}

extension ShownText: ExpressibleByStringInterpolation {
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    package mutating func appendLiteral(_ literal: String) { text += literal }

    package mutating func appendInterpolation(_ part: ShownText) { text += part.text }

    package mutating func appendInterpolation(json: String) { text += JSONEscapes.escaped(json) }

    package mutating func appendInterpolation(_ part: some Any) {
      text += SafeText.sanitized("\(part)")
    }
  }

  package init(stringLiteral text: String) { self.text = text }

  package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
}

extension ShownText: CustomStringConvertible {
  package var description: String { text }
}

extension Sequence<ShownText> {
  package func joined(separator: ShownText) -> ShownText {
    ShownText(verbatim: map(\.text).joined(separator: separator.text))
  }

  /// The lines joined, each with a line break at its end.
  package func asLines() -> ShownText { ShownText(verbatim: map { $0.text + "\n" }.joined()) }
}

/// Replaces unsafe characters in JSON with JSON escapes. The replacements of `SafeText` would change the values.
private enum JSONEscapes {
  static func escaped(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 &- 0x20 < 0x5F || $0 == 0x0a }) { return text }
    let scalars = Array(text.unicodeScalars)
    var view = String.UnicodeScalarView()
    for (index, scalar) in scalars.enumerated() {
      if scalar == "\n" || !SafeText.isUnsafe(scalar) || joins(scalars, at: index) {
        view.append(scalar)
      } else {
        for unit in String(scalar).utf16 { view.append(contentsOf: escape(unit).unicodeScalars) }
      }
    }
    return String(view)
  }

  /// Whether a joiner is part of an emoji or of a word in a script that uses joiners. In other positions, a joiner only
  /// hides text.
  private static func joins(_ scalars: [Unicode.Scalar], at index: Int) -> Bool {
    guard scalars[index].value == 0x200C || scalars[index].value == 0x200D else { return false }
    guard index > 0, index + 1 < scalars.count else { return false }
    return [scalars[index - 1], scalars[index + 1]].allSatisfy { $0.value >= 0x0300 && !SafeText.isUnsafe($0) }
  }

  private static func escape(_ unit: UInt16) -> String {
    let digits = String(unit, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
  }
}

extension DatabaseID {
  /// The project and the database, as in `demo/(default)`.
  package var text: String { "\(project)/\(database)" }
}

extension Int {
  /// The number with its noun: `1 document`, `2 documents`.
  package var documents: String { "\(self) document\(self == 1 ? "" : "s")" }
}

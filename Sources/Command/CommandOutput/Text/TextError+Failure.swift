// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreText
import TerminalCanvas

extension TextError {
  /// - Parameter argument: the option's name, such as `--where`; empty for an argument without one.
  package func failure(_ argument: String, _ text: String) -> CommandFailure {
    let place = column.map { ", column \($0)" } ?? ""
    var failure = CommandFailure(
      .usage, "\(argument)\(argument.isEmpty ? "" : " ")'\(text)'\(place): \(reason)")
    failure.excerpt = excerpt(of: text)
    return failure
  }

  /// The text as it is shown, and a caret below the column; nothing where all of the text is meant.
  package func excerpt(of text: String) -> [String] {
    guard let column else { return [] }
    var before = String.UnicodeScalarView()
    before.append(contentsOf: text.unicodeScalars.prefix(column - 1))
    return [SafeText.sanitized(text), String(repeating: " ", count: SafeText.columns(of: String(before))) + "^"]
  }
}

extension FieldPathText {
  /// Reads a field that is an argument of its own.
  package static func argument(_ text: String) throws(CommandFailure) -> FieldPath {
    do throws(TextError) { return try parse(text) } catch { throw error.failure("", text) }
  }
}

extension MomentText {
  /// Reads a moment by this device's clock.
  package static func parse(_ text: String) throws -> Timestamp { try parse(text, now: .now) }
}

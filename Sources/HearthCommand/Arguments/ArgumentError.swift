// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import TerminalCanvas

/// What is wrong with the text of one argument, and where in it.
struct ArgumentError: Error, Hashable, Sendable {
  /// From 1, in Unicode scalars; `nil` when all of it is meant.
  var column: Int?
  var reason: String

  init(column: Int? = nil, _ reason: String) {
    self.column = column
    self.reason = reason
  }

  /// - Parameter column: where the JSON begins in the argument.
  init(_ error: JSONError, from column: Int) {
    self.init(column: error.line == 1 ? column + error.column - 1 : column, error.reason)
  }

  /// - Parameter argument: the option's name, such as `--where`; empty for an argument without one.
  func failure(_ argument: String, _ text: String) -> CommandFailure {
    let place = column.map { ", column \($0)" } ?? ""
    var failure = CommandFailure(
      .usage, "\(argument)\(argument.isEmpty ? "" : " ")'\(text)'\(place): \(reason)")
    failure.excerpt = column.map { Self.excerpt(of: text, column: $0) } ?? []
    return failure
  }

  /// The text as it is shown, and a caret below the column.
  private static func excerpt(of text: String, column: Int) -> [String] {
    var before = String.UnicodeScalarView()
    before.append(contentsOf: text.unicodeScalars.prefix(column - 1))
    return [SafeText.sanitized(text), String(repeating: " ", count: SafeText.columns(of: String(before))) + "^"]
  }
}

extension ArgumentError: CustomStringConvertible {
  /// As the argument parser shows it, after the option's name.
  var description: String { column.map { "column \($0): \(reason)" } ?? reason }
}

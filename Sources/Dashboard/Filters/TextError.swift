// SPDX-License-Identifier: Apache-2.0

/// Why typed text is not understood.
struct TextError: Error, Hashable, Sendable {
  /// Of the first character that is wrong, counted from 1.
  var column: Int
  var reason: String

  var text: String { "column \(column): \(reason)" }

  /// The same about a text that stands behind so many other characters.
  func moved(by columns: Int) -> TextError { TextError(column: column + columns, reason: reason) }
}

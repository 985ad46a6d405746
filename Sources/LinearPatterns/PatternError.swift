// SPDX-License-Identifier: Apache-2.0

/// Why a text is no regular expression.
package struct PatternError: Error, Hashable, Sendable {
  /// Of the first character that is wrong, counted from 1.
  package var column: Int
  package var reason: String

  package var text: String { "column \(column): \(reason)" }
}

// SPDX-License-Identifier: Apache-2.0

/// The reason why a text is no regular expression.
package struct PatternError: Error, Hashable, Sendable {
  /// The column of the first wrong character, counted from 1.
  package var column: Int
  package var reason: String

  package var text: String { "column \(column): \(reason)" }
}

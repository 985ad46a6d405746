// SPDX-License-Identifier: Apache-2.0

/// Text that is not JSON, or JSON that does not say what was expected, and where.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// From 1.
  package var line: Int
  /// From 1, in Unicode scalars.
  package var column: Int
  package var reason: String

  package init(line: Int, column: Int, reason: String) {
    self.line = line
    self.column = column
    self.reason = reason
  }

  /// `line 3, column 14: …`
  package var description: String { "line \(line), column \(column): \(reason)" }
}

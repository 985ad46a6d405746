// SPDX-License-Identifier: Apache-2.0

/// Why a theme could not be used; prints as `file:line: reason`.
package struct ThemeError: Error, Hashable, Sendable, CustomStringConvertible {
  package var file: String
  /// Counted from 1; `nil` when the file as a whole is at fault.
  package var line: Int?
  package var reason: String

  package init(file: String, line: Int?, reason: String) {
    self.file = file
    self.line = line
    self.reason = reason
  }

  package var description: String { line.map { "\(file):\($0): \(reason)" } ?? "\(file): \(reason)" }
}

/// Something in a theme file that was ignored; prints as `file:line: warning: reason`.
package struct ThemeWarning: Hashable, Sendable, CustomStringConvertible {
  package var file: String
  package var line: Int?
  package var reason: String

  package init(file: String, line: Int?, reason: String) {
    self.file = file
    self.line = line
    self.reason = reason
  }

  package var description: String { "\(file):\(line.map { "\($0):" } ?? "") warning: \(reason)" }
}

// SPDX-License-Identifier: Apache-2.0

/// Why there is no screen, in one line that says what to do instead.
package struct TerminalError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: Hashable, Sendable { case notATerminal, unknownTerminal, unusableTerminal, system }

  package var code: Code
  package var message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON

/// A spec file that cannot be run as it is: not JSON, a missing member, or a step or expectation nobody knows.
package struct SpecFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  package var file: String
  package var line: Int
  package var column: Int
  package var reason: String

  package init(_ file: String, _ error: JSONError) {
    self.file = file
    line = error.line
    column = error.column
    reason = error.reason
  }

  package var description: String { "\(file):\(line):\(column): \(reason)" }
}

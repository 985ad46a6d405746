// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON

/// A spec file that cannot be run as it is: not JSON, a missing member, or a step or expectation nobody knows.
package struct SpecFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  package var file: String
  /// The test in whose text the fault is; `nil` outside of all tests.
  package var test: String?
  /// Counted from 1; `nil` outside of all steps.
  package var step: Int?
  /// 0 if the file cannot be read at all.
  package var line: Int
  package var column: Int
  package var reason: String

  package init(_ file: String, test: String? = nil, step: Int? = nil, _ error: JSONError) {
    self.file = file
    self.test = test
    self.step = step
    line = error.line
    column = error.column
    reason = error.reason
  }

  package var description: String {
    let place = line > 0 ? "\(file):\(line):\(column)" : file
    let part = test.map { "test \"\($0)\"" + (step.map { ", step \($0)" } ?? "") }
    return [place, part, reason].compactMap(\.self).joined(separator: ": ")
  }
}

// SPDX-License-Identifier: Apache-2.0

/// A file of security rules, as the client sent it.
package struct RulesFile: Sendable, Hashable {
  package var name: String
  package var content: String

  package init(name: String, content: String) {
    self.name = name
    self.content = content
  }
}

/// A stretch of a file of rules.
package struct RulesPosition: Sendable, Hashable {
  /// The index of the file in the ruleset.
  package var file: Int
  /// Counted from 1.
  package var line: Int
  /// Counted from 1, in UTF-16 code units.
  package var column: Int
  /// The offsets in the file at which the stretch begins and ends (exclusive), counted from 0 in UTF-16 code units.
  package var currentOffset: Int
  package var endOffset: Int

  package init(file: Int, line: Int, column: Int, currentOffset: Int, endOffset: Int) {
    self.file = file
    self.line = line
    self.column = column
    self.currentOffset = currentOffset
    self.endOffset = endOffset
  }
}

/// An error or a warning about a file of rules.
package struct RulesIssue: Error, Sendable, Hashable {
  package var fileName: String
  /// Counted from 1.
  package var line: Int
  /// Counted from 1, in UTF-16 code units.
  package var column: Int
  /// The offsets at which the wrong text begins and ends (exclusive), counted from 0 in UTF-16 code units.
  package var currentOffset: Int
  package var endOffset: Int
  package var message: String
  /// Whether the rules cannot be used; a warning otherwise.
  package var isError: Bool

  package init(
    fileName: String, line: Int, column: Int, currentOffset: Int, endOffset: Int, message: String, isError: Bool = true
  ) {
    self.fileName = fileName
    self.line = line
    self.column = column
    self.currentOffset = currentOffset
    self.endOffset = endOffset
    self.message = message
    self.isError = isError
  }
}

// SPDX-License-Identifier: Apache-2.0

/// One line of a user's `[keys]`: the keys that replace a command's own.
package struct KeyBinding: Hashable, Sendable {
  /// The section, `live-feed` of `[keys.live-feed]`; `nil` for `[keys]`, which means the command on the whole screen
  /// and in every pane that has it.
  package var section: String?
  package var command: String
  /// The keys in the form that `Key` reads; an empty list takes the command its keys.
  package var keys: [String]
  /// The number of its line in the file.
  package var line: Int?

  package init(section: String? = nil, _ command: String, _ keys: [String], line: Int? = nil) {
    self.section = section
    self.command = command
    self.keys = keys
    self.line = line
  }

  /// The name of the command with its section.
  package var name: String { section.map { "\($0).\(command)" } ?? command }
}

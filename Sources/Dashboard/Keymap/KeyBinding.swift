// SPDX-License-Identifier: Apache-2.0

/// One line of a user's `[keys]`: the keys that a command is to have in place of its own.
package struct KeyBinding: Hashable, Sendable {
  /// `live-feed` of `[keys.live-feed]`; `nil` for `[keys]`, which means the command on the whole screen and in every
  /// pane that has it.
  package var section: String?
  package var command: String
  /// As `Key` reads them; none takes the command its keys.
  package var keys: [String]
  /// Where it stands in its file.
  package var line: Int?

  package init(section: String? = nil, _ command: String, _ keys: [String], line: Int? = nil) {
    self.section = section
    self.command = command
    self.keys = keys
    self.line = line
  }

  /// The command with its section, as people name it.
  var name: String { section.map { "\($0).\(command)" } ?? command }
}

/// Why a binding was not taken.
package struct KeyProblem: Error, Hashable, Sendable {
  package var line: Int?
  package var reason: String
}

extension KeyContext {
  /// What stands behind `keys.` in a configuration file: the title in small letters, with dashes; `nil` for the whole
  /// screen.
  package var section: String? {
    switch self {
    case .always, .screen: nil
    case .past, .replay, .pane, .overlay: title.lowercased().split(separator: " ").joined(separator: "-")
    }
  }

  /// Whether a command of this context can be meant by the same key press as one of the other.
  func overlaps(_ other: KeyContext) -> Bool {
    switch (self, other) {
    case (.always, _), (_, .always): true
    case (.screen, .pane), (.pane, .screen): true
    default: self == other
    }
  }
}

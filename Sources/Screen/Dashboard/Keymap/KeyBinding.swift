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
  var name: String { section.map { "\($0).\(command)" } ?? command }
}

/// The reason why a binding was refused.
package struct KeyProblem: Error, Hashable, Sendable {
  package var line: Int?
  package var reason: String
}

extension KeyContext {
  /// The name of the context behind `keys.` in a configuration file: the title in small letters, with dashes; `nil` for
  /// the whole screen.
  package var section: String? {
    switch self {
    case .always, .screen: nil
    case .past, .replay, .scenario, .pane, .requests, .overlay:
      title.lowercased().split(separator: " ").joined(separator: "-")
    }
  }

  /// Whether one key press can mean both a command of this context and one of the other.
  func overlaps(_ other: KeyContext) -> Bool {
    switch (self, other) {
    case (.always, _), (_, .always): true
    case (.screen, .pane), (.pane, .screen), (.screen, .requests), (.requests, .screen): true
    default: self == other
    }
  }
}

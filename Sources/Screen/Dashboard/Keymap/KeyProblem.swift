// SPDX-License-Identifier: Apache-2.0

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

// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// Where a binding holds. A key means at most one thing in each context.
package enum KeyContext: Hashable, Sendable {
  /// Whatever is open.
  case always
  /// On the screen with no overlay open; a pane's own binding comes first.
  case screen
  case pane(Pane)
  case overlay(Overlay.Kind)

  package var title: String {
    switch self {
    case .always, .screen: "Everywhere"
    case .pane(let pane): pane.title
    case .overlay(let kind): kind.title
    }
  }
}

/// One row of the keymap: dispatch, footer, help, the manual and `--print-keys` all come from it.
package struct Binding: Hashable, Sendable {
  package let command: Command
  package let keys: [Key]
  package let context: KeyContext
  /// What it does, as a sentence without a subject.
  package let help: String
  /// A word for the footer; `nil` keeps it out.
  package let hint: String?
  /// Footer order, lowest first.
  package let priority: Int

  init(
    _ command: Command, _ keys: String, in context: KeyContext, _ help: String, hint: String? = nil,
    _ priority: Int = 50
  ) {
    self.command = command
    self.keys = keys.split(separator: " ").compactMap { Key(String($0)) }
    self.context = context
    self.help = help
    self.hint = hint
    self.priority = priority
  }

  /// The keys as people read them: `j ↓`.
  package func keyText(_ glyphs: Glyphs, limit: Int = 3) -> String {
    keys.prefix(limit).map { Self.text(of: $0, glyphs) }.joined(separator: " ")
  }

  static func text(of key: Key, _ glyphs: Glyphs) -> String {
    guard glyphs == .unicode, key.modifiers.isEmpty else { return key.description }
    return switch key.base {
    case .up: "↑"
    case .down: "↓"
    case .left: "←"
    case .right: "→"
    case .enter: glyphs.enter
    default: key.description
    }
  }
}

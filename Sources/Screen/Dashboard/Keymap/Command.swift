// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import TerminalCanvas

/// An action that a key, a click or the palette can trigger. Contains its keys, texts, condition and effect. Key
/// dispatch, footer, help, the manual and `hearth keys` all use these records.
package struct Command: Sendable {
  /// The name in help and in searches. A command hides the commands with the same name in outer contexts.
  package let name: String
  package private(set) var keys: [Key]
  package let context: KeyContext
  /// The effect, as a sentence without a subject.
  package let help: String
  /// The word in the footer; `nil` if the footer omits the command.
  let hint: Wording?
  /// The position in the footer, lowest first.
  let priority: Int
  /// The title in the palette; `nil` for commands that the palette omits.
  package let title: Wording?
  /// Whether the command changes documents or pending writes. A read-only dashboard rejects it.
  let writes: Bool
  private let condition: @Sendable (DashboardState) -> String?
  let run: @Sendable (inout DashboardState) -> [Effect]
  /// The argument in the palette; `nil` for most commands.
  var argument: CommandArgument?
  /// Whether the palette requires the command's full name. This is so for commands that end, delete or discard
  /// something.
  let needsFullName: Bool

  /// - Parameters:
  ///   - keys: the keys in the syntax of `Key`, separated by blanks.
  ///   - title: the title in the palette instead of `help`.
  ///   - isListed: whether the palette lists the command.
  ///   - writes: whether a read-only dashboard rejects the command.
  init(
    _ name: String, _ keys: String, in context: KeyContext, _ help: String, hint: Wording? = nil,
    _ priority: Int = 50, title: Wording? = nil, isListed: Bool = true, writes: Bool = false,
    unless reason: @escaping @Sendable (DashboardState) -> String? = { _ in nil },
    run: @escaping @Sendable (inout DashboardState) -> [Effect]
  ) {
    self.name = name
    self.keys = keys.split(separator: " ").compactMap { Key(String($0)) }
    self.context = context
    self.help = help
    self.hint = hint
    self.priority = priority
    self.title = isListed ? title ?? Wording { _ in help } : nil
    self.writes = writes
    needsFullName = Keymap.runByFullName.contains(name)
    condition = reason
    self.run = run
  }

  /// A command that only changes the screen.
  init(
    _ name: String, _ keys: String, in context: KeyContext, _ help: String, hint: Wording? = nil,
    _ priority: Int = 50, title: Wording? = nil, isListed: Bool = true, writes: Bool = false,
    unless reason: @escaping @Sendable (DashboardState) -> String? = { _ in nil },
    change: @escaping @Sendable (inout DashboardState) -> Void
  ) {
    self.init(
      name, keys, in: context, help, hint: hint, priority, title: title, isListed: isListed, writes: writes,
      unless: reason,
      run: { state in
        change(&state)
        return []
      })
  }

  /// The reason why the command is unavailable; `nil` if it is available. Help and pressing the key show it.
  package func reason(_ state: DashboardState) -> String? {
    if writes, let past = state.past { return past.refusal(state) }
    if let reason = state.configuration.attached?.reason(against: self, state) { return reason }
    if writes && state.configuration.isReadOnly { return state.readOnlyReason }
    return state.reasonAgainstRange(for: name) ?? condition(state)
  }

  /// A copy of the command with other keys.
  func bound(to keys: [Key]) -> Command {
    var command = self
    command.keys = keys
    return command
  }

  /// The keys in readable form: `j ↓`.
  package func keyText(_ glyphs: Glyphs, limit: Int = 3) -> String {
    keys.prefix(limit).map { Self.text(of: $0, glyphs) }.joined(separator: " ")
  }

  /// The hint, or the name if the command has no hint.
  func word(_ state: DashboardState) -> String { hint?.text(state) ?? name }

  package static func text(of key: Key, _ glyphs: Glyphs) -> String {
    guard glyphs.arrow == Glyphs.unicode.arrow, key.modifiers.isEmpty else { return key.description }
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

/// A text that can depend on what the screen shows.
package struct Wording: ExpressibleByStringLiteral, Sendable {
  package let text: @Sendable (DashboardState) -> String

  init(_ text: @escaping @Sendable (DashboardState) -> String) { self.text = text }
  package init(stringLiteral text: String) { self.text = { _ in text } }
}

/// The context of a command. A key has at most one command in each context.
package enum KeyContext: Hashable, Sendable {
  /// The context that always applies.
  case always
  /// The screen with no overlay open. The commands of the focused pane take precedence.
  case screen
  /// The screen at an earlier time of this session, or in a recorded session.
  case past, replay
  /// A client of a playing scenario.
  case scenario
  case pane(Pane)
  /// Pane 4 while it lists requests. During this time, its commands for events do not apply.
  case requests
  case overlay(Overlay.Kind)

  package var title: String {
    switch self {
    case .always, .screen: "Everywhere"
    case .past: "Earlier moment"
    case .replay: "Replay"
    case .scenario: "Scenario"
    case .pane(let pane): pane.title
    case .requests: "Requests"
    case .overlay(let kind): kind.title
    }
  }
}

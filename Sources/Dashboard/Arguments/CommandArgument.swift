// SPDX-License-Identifier: Apache-2.0
import FirestoreText

/// What a command of the palette takes: `offline 30s`.
struct CommandArgument: Sendable {
  /// What a text means, in words, and what it does.
  struct Meaning: Sendable {
    var account: String
    var run: @Sendable (inout DashboardState) -> [Effect]
  }

  /// As help names it: `DURATION`.
  let name: String
  /// What it may be, with examples, for who has typed nothing yet.
  let hint: String
  /// Whether the command does something without it.
  var isOptional = false
  /// Texts that are worth being offered, whole, for what is typed so far.
  var completions: @Sendable (String, DashboardState) -> [String] = { _, _ in [] }
  /// Throws `TextError`: what is wrong with the text.
  let read: @Sendable (String, DashboardState) throws(TextError) -> Meaning

  var label: String { isOptional ? "[\(name)]" : name }
}

extension Command {
  /// A command that only the palette has, since it takes an argument. Chosen without one it has that typed.
  init(
    _ name: String, _ help: String, _ argument: CommandArgument,
    alone: (@Sendable (inout DashboardState) -> [Effect])? = nil
  ) {
    self.init(
      name, "", in: .screen, help, title: Wording { _ in "\(name) \(argument.label)" },
      run: alone ?? { state in
        state.openPalette(typed: name + " ")
        return []
      })
    self.argument = argument
  }
}

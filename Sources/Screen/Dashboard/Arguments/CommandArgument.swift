// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreText

/// The argument that a command of the palette takes: `offline 30s`.
struct CommandArgument: Sendable {
  /// The meaning of an argument: its description in words, and its effect.
  struct Meaning: Sendable {
    var account: String
    var run: @Sendable (inout DashboardState) -> [Effect]
  }

  /// The name of the argument in help: `DURATION`.
  let name: String
  /// A description with examples, shown until the user types.
  let hint: String
  /// Whether the command can run without the argument.
  var isOptional = false
  /// Whole texts to offer for the text typed so far.
  var completions: @Sendable (String, DashboardState) -> [String] = { _, _ in [] }
  /// Reads the text; throws `TextError`, the reason why it is refused.
  let read: @Sendable (String, DashboardState) throws(TextError) -> Meaning

  var label: String { isOptional ? "[\(name)]" : name }
}

extension Command {
  /// The same command, which takes an argument in the palette.
  func taking(_ argument: CommandArgument) -> Command {
    var command = self
    command.argument = argument
    return command
  }

  /// A command that is in the palette only, since it takes an argument. If it is chosen without one, the palette asks
  /// for it.
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

// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TerminalTheme

/// What the parser's own texts lack.
enum CommandHelp {
  /// The help of `hearth` itself is followed by the dashboard's options, since that is what it opens.
  static func completed(_ message: String) -> String {
    guard message == HearthCommand.helpMessage() else { return message }
    let dashboard = HearthCommand.helpMessage(for: DashboardCommand.self)
    guard let options = dashboard.firstRange(of: "OPTIONS:") else { return message }
    return message + "\n\nDASHBOARD " + dashboard[options.lowerBound...]
  }

  /// The nearest option or command to one that does not exist, where the parser found none near enough to name.
  static func suggestion(for reason: String, _ arguments: some Sequence<String>) -> String {
    guard !reason.contains("Did you mean") else { return "" }
    if reason.hasPrefix("Unknown option"), let unknown = reason.firstMatch(of: /--?[\w-]+/) {
      let known = HearthCommand.helpMessage(for: command(in: arguments)).matches(of: /--[a-z][a-z-]+/)
      return nearest(to: String(unknown.output), among: known.map { String($0.output) })
    }
    guard reason.contains("nexpected argument"), let unknown = reason.firstMatch(of: /'([\w-]+)'/),
      arguments.first(where: { _ in true }) == String(unknown.output.1)
    else { return "" }
    return nearest(to: String(unknown.output.1), among: commands.compactMap { $0.configuration.commandName })
  }

  private static var commands: [any ParsableCommand.Type] { HearthCommand.configuration.subcommands }

  private static func nearest(to name: String, among known: [String]) -> String {
    NearestName.closest(to: name, among: known).map { ". The nearest is '\($0.name)'." } ?? ""
  }

  /// The sub-command that the arguments name, or else the one that runs without a name.
  private static func command(in arguments: some Sequence<String>) -> any ParsableCommand.Type {
    let named = arguments.first { _ in true }
    return commands.first { $0.configuration.commandName == named } ?? DashboardCommand.self
  }
}

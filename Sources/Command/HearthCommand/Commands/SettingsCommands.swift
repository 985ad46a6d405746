// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import Dashboard
import DashboardHost
import Foundation
import TerminalTheme

/// `hearth keys`: the key bindings.
struct KeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Print the key bindings, including your configuration.")

  mutating func run() throws {
    let preferences = Preferences.read(Paths.ofProcess)
    preferences.problems.forEach { StandardError.write("hearth: \($0)") }
    try OutputFile.print("\(ShownText(lines: KeyReference.plainText(preferences.keymap)))\n")
  }
}

/// `hearth config`: the configuration file.
struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Print the configuration file with its defaults.")

  mutating func run() throws { try OutputFile.print(data: ConfigurationFile.template) }
}

extension Theme.Variant {
  /// The background, dark or light, according to the terminal's environment variables; `nil` if they are not set.
  static var ofTerminal: Theme.Variant? {
    ProcessInfo.processInfo.environment["COLORFGBG"].flatMap(Theme.Variant.init(colorFGBG:))
  }
}

// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import CommandTransfer
import Foundation
import Scenarios

/// The text of a file, of standard input or of a shipped scenario, with its name in messages.
struct PlayedText: Sendable {
  let name: String
  let text: String

  /// - Parameter name: a file, `-` for standard input, or the name of a shipped scenario.
  static func read(_ name: String) throws(CommandFailure) -> PlayedText {
    if name == "-" { return PlayedText(name: "standard input", text: try DocumentArgument.text(ofFile: name)) }
    if !FileManager.default.fileExists(atPath: name), !name.contains("/") {
      if let shipped = ShippedScenario.all.first(where: { $0.name == name }) {
        return PlayedText(name: name, text: shipped.text)
      }
      if !name.contains(".") {
        throw CommandFailure(.noInput, "there is no file \(name), and no such scenario is shipped; --list names those.")
      }
    }
    return PlayedText(name: name, text: try DocumentArgument.text(ofFile: name))
  }

  func scenario(_ parser: ScenarioParser) throws(CommandFailure) -> Scenario { try parser.scenario(text, of: name) }

  /// The text as `--show` prints it.
  var shown: String { text.hasSuffix("\n") ? text : text + "\n" }
}

// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import CommandTransfer
import Foundation
import Scenarios

/// One thing that is played.
enum PlayedCase: Sendable {
  case scenario(Scenario)
  /// A published spec test.
  case spec(SpecScenario)
}

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

  var isSpec: Bool { SpecScenario.isSpec(text) }

  /// The scenario, or the spec tests, of the text.
  /// - Parameter part: the name of a spec test, or a part of it; `nil` for all.
  func cases(_ parser: ScenarioParser, only part: String?) throws(CommandFailure) -> [PlayedCase] {
    if isSpec { return try SpecScenario.read(text, of: name, only: part).map { .spec($0) } }
    if part != nil {
      throw CommandFailure(.usage, "--only chooses among the tests of a spec file, and \(name) is a scenario.")
    }
    return [.scenario(try parser.scenario(text, of: name))]
  }

  /// The text as `--show` prints it: of spec tests their steps in words.
  func shown(_ cases: [PlayedCase]) -> String {
    guard isSpec else { return text.hasSuffix("\n") ? text : text + "\n" }
    let tests = cases.compactMap { if case .spec(let spec) = $0 { spec.text } else { nil } }
    return tests.joined(separator: "\n")
  }
}

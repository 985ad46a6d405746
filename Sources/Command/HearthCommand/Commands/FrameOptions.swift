// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import CommandTransfer
import DashboardHost
import Scenarios
import TerminalCanvas
import TerminalTheme

/// `--frame` and what goes with it.
struct FrameOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Print one screen of this size, of a shop that is played by its own clock, and exit: no terminal, no data.",
      valueName: "WxH"),
    transform: FrameSizeText.parse)
  var frame: Size?

  @Option(help: "With --frame: plain text, text with a terminal's colours, or a picture.")
  var format = FrameRequest.Format.text

  @Option(help: "With --frame: which moment of the shop.")
  var scene = PlayedShop.Scene.online

  @Option(
    help: ArgumentHelp(
      "With --frame: a scenario as 'hearth play' plays it, in place of the shop; what it expects is not checked.",
      valueName: "file"))
  var scenario: String?

  @Option(
    help: ArgumentHelp("With --frame: keys that are pressed then, as in \"4 / tab\".", valueName: "keys"),
    transform: KeySequenceText.parse)
  var keys: [Key] = []

  @Option(
    help: ArgumentHelp(
      """
      Press the keys of a file, each at its time, and show its captions: lines such as 'wait 2s', 'keys 1 j enter', \
      'type orders', 'caption TEXT', 'pace 200ms', 'quit'. With --frame by a clock of its own, so that --cast writes the \
      same bytes each time.
      """, valueName: "file"))
  var script: String?

  /// - Returns: `nil` without a script.
  /// - Throws: the error in the script, with its line.
  func demoScript() throws(CommandFailure) -> DemoScript? {
    guard let script else { return nil }
    let name = script == "-" ? "standard input" : script
    return try DemoScript.parse(try DocumentArgument.text(ofFile: script), name: name)
  }

  /// - Returns: `nil` where no picture is asked for.
  /// - Throws: the error in the scenario, with its line.
  func request(
    _ theme: Theme, _ preferences: Preferences, _ appearance: AppearanceOptions
  ) throws(CommandFailure) -> FrameRequest? {
    guard let frame else { return nil }
    var request = FrameRequest(of: frame, theme: theme)
    request.format = format
    request.scene = scene
    request.keys = keys
    request.glyphs = preferences.file.glyphs?.choice ?? .unicode
    request.keymap = preferences.keymap
    request.themes = preferences.themes
    request.depth = appearance.depth(preferences) ?? .trueColor
    request.script = try demoScript()
    if let scenario {
      let name = scenario == "-" ? "standard input" : scenario
      request.scenario = try ScenarioParser(database: PlayedShop.database).steps(
        try DocumentArgument.text(ofFile: scenario), of: name)
    }
    return request
  }
}

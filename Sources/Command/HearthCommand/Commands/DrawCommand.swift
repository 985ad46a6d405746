// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import Dashboard
import DashboardHost
import DashboardModel
import Foundation
import Scenarios
import TerminalCanvas
import TerminalTheme

/// `hearth draw WxH`: draws one screen without a terminal.
struct DrawCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "draw", abstract: "Print one screen of a sample shop, a scenario or a recording, as text or picture.",
    discussion: """
      Needs no terminal, client or data. The same arguments print the same picture, byte for byte.

      Example: hearth draw 120x36 --scene offline --format svg >offline.svg
      """)

  @Argument(
    help: ArgumentHelp("Columns and rows of the screen.", valueName: "WxH"), transform: FrameSizeText.parse)
  var size: Size

  @Option(help: "Plain text, text with a terminal's colors, or a picture.")
  var format = FrameRequest.Format.text

  @Option(help: "Scene of the shop.")
  var scene = PlayedShop.Scene.online

  @Option(
    help: ArgumentHelp(
      "Draw a scenario of 'hearth play' instead of the shop; expectations are not checked.", valueName: "file"))
  var scenario: String?

  @Option(
    help: ArgumentHelp("Draw the end of a recording instead of the shop; - reads standard input.", valueName: "file"))
  var replay: String?

  @Option(
    help: ArgumentHelp("With --replay: the time to draw (12:04:16), or the event (42).", valueName: "time"))
  var at: String?

  @Option(
    help: ArgumentHelp("Keys to press before drawing, as in \"4 / tab\".", valueName: "keys"),
    transform: KeySequenceText.parse)
  var keys: [Key] = []

  @Option(
    help: ArgumentHelp(
      DemoScript.help + " Uses simulated time, so --cast always writes the same bytes.", valueName: "file"))
  var script: String?

  @Option(help: ArgumentHelp("With --script: record the screen for asciinema.", valueName: "file"))
  var cast: String?

  @Flag(help: "With --cast: overwrite an existing file.")
  var force = false

  @OptionGroup var appearance: AppearanceOptions

  mutating func validate() throws {
    if replay != nil, scenario != nil {
      throw ValidationError("--replay and --scenario cannot be combined. Remove one of them.")
    }
    if at != nil, replay == nil { throw ValidationError("--at needs --replay.") }
    if cast != nil, script == nil { throw ValidationError("--cast needs --script.") }
    if force, cast == nil { throw ValidationError("--force needs --cast.") }
    _ = try TimelinePlace.parse(at)
  }

  @MainActor
  mutating func run() async throws {
    let request = try request(Preferences.read(Paths.ofProcess))
    if let cast { return try write(request, to: cast) }
    // Text on a canvas is safe for a terminal, and the rest are the picture's own escape sequences.
    try OutputFile.print(ShownText(verbatim: request.rendered()))
  }

  /// - Throws: the error in the scenario or script, with its line, or the error of reading the recording.
  private func request(_ preferences: Preferences) throws -> FrameRequest {
    let theme = try appearance.theme(preferences, background: Theme.Variant.ofTerminal)
    var request = FrameRequest(of: size, theme: theme.theme)
    request.format = format
    request.scene = scene
    request.keys = keys
    request.glyphs = preferences.file.glyphs?.choice ?? .unicode
    request.keymap = preferences.keymap
    request.themes = preferences.themes
    request.depth = appearance.depth(preferences) ?? .trueColor
    request.script = try DemoScript.read(script)
    if let scenario {
      let name = scenario == "-" ? "standard input" : scenario
      request.scenario = try ScenarioParser(database: PlayedShop.database).steps(
        try DocumentArgument.text(ofFile: scenario), of: name)
    }
    if let replay {
      let recording = try Recording(path: replay)
      for problem in recording.problems { StandardError.write("hearth: \(problem)") }
      let playback = Playback(speed: .times(1), isPlaying: true)
      request.recorded = ReplayRequest(
        recording: recording, playback: playback, place: try TimelinePlace.parse(at)
      ).state(for: request)
    }
    return request
  }

  private func write(_ request: FrameRequest, to file: String) throws {
    if !force, FileManager.default.fileExists(atPath: file) {
      throw CommandFailure(
        .cannotCreate, "\(file) already exists. Choose another name, or overwrite it with --force.")
    }
    let target = try ExportTarget(file)
    do { try target.file.data(String(decoding: request.cast().data(), as: UTF8.self)) } catch {
      target.discard()
      throw error
    }
    try target.commit()
  }
}

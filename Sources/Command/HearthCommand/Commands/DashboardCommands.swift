// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DashboardHost
import TerminalCanvas

/// `hearth dashboard`, or just `hearth`: the full-screen dashboard.
struct DashboardCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dashboard", abstract: "Open the full-screen dashboard; what hearth does without a command.")

  @OptionGroup var dashboard: DashboardOptions

  func validate() throws { try dashboard.check() }

  @MainActor
  mutating func run() async throws { try await dashboard.run() }
}

/// `hearth record FILE`: the dashboard with `--record FILE`.
struct RecordCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Open the dashboard, and keep the session in a file.",
    discussion: """
      The file has everything that was seen and typed, and only you may read it. 'hearth replay' shows it again, \
      'hearth redact' takes values out. The options are those of the dashboard.
      """)

  @Argument(help: ArgumentHelp("The recording, which must not be there yet.", valueName: "file"))
  var file: String

  @OptionGroup var dashboard: DashboardOptions

  mutating func validate() throws {
    if dashboard.recording.record != nil { throw ValidationError("the file is named already; leave --record out.") }
    dashboard.recording.record = file
    try dashboard.check()
  }

  @MainActor
  mutating func run() async throws { try await dashboard.run() }
}

/// `hearth replay FILE`: the dashboard with `--replay FILE`.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Show a recorded session again; no client is opened.",
    discussion: "space plays and stops, , and . go from event to event. The options are those of the dashboard.")

  @Argument(help: ArgumentHelp("The recording; - reads standard input.", valueName: "file"))
  var file: String

  @OptionGroup var dashboard: DashboardOptions

  mutating func validate() throws {
    if dashboard.recording.replay != nil { throw ValidationError("the file is named already; leave --replay out.") }
    dashboard.recording.replay = file
    try dashboard.check()
  }

  @MainActor
  mutating func run() async throws { try await dashboard.run() }
}

/// `hearth draw WxH`: the dashboard's picture, as `--frame WxH` makes it.
struct DrawCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "draw", abstract: "Print one screen of a made-up shop, a scenario or a recording, as text or picture.",
    discussion: """
      No terminal, no client, no data: the same words give the same picture, byte for byte.

      Example: hearth draw 120x36 --scene offline --format svg >offline.svg
      """)

  @Argument(
    help: ArgumentHelp("Columns and rows of the screen.", valueName: "WxH"), transform: FrameSizeText.parse)
  var size: Size

  @OptionGroup var dashboard: DashboardOptions

  mutating func validate() throws {
    if dashboard.picture.frame != nil { throw ValidationError("the size is named already; leave --frame out.") }
    dashboard.picture.frame = size
    try dashboard.check()
  }

  @MainActor
  mutating func run() async throws { try await dashboard.run() }
}

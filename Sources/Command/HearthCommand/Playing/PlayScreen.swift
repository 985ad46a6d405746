// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import DashboardHost
import FirestoreBackend
import Foundation
import Glibc
import Scenarios
import Terminal
import TerminalTheme

/// `hearth play --live`: one scenario in the dashboard, until the user leaves.
@MainActor
struct PlayScreen {
  let storage: StorageOptions.Locations
  let appearance: AppearanceOptions
  let log: LogOptions
  let parser: ScenarioParser
  /// The file that is played again when it changes; `nil` for none.
  let watched: String?

  /// - Throws: the failure with which a run without a screen would have ended.
  func run(_ live: LiveScenario) async throws {
    guard isatty(STDOUT_FILENO) == 1 else {
      throw ValidationError("standard output is not a terminal, so there is no screen. Leave out --live.")
    }
    AllocatorArenas.limit()
    let paths = Paths.ofProcess
    let preferences = Preferences.read(paths)
    let background = ProcessInfo.processInfo.environment["COLORFGBG"].flatMap(Theme.Variant.init(colorFGBG:))
    let theme = try appearance.theme(preferences, background: background)
    try Log.start(log, paths)
    var options = Session.Options(
      storage: storage, durability: .normal, isDemo: false, demoSeed: 0, demoSpeed: 1, startsOffline: false,
      isReadOnly: false, restoresListeners: false, listeners: [], appearance: appearance, preferences: preferences,
      theme: theme, paths: paths, notices: Notices.about(preferences.problems, theme, paths))
    options.subject = .scenario(live)
    let session: Session
    do { session = try Session(options) } catch let error as TerminalError {
      throw ValidationError("\(error.message). Without --live, 'hearth play' needs no screen")
    }
    let watch = watched.flatMap { file in
      ServedFile(file, of: "steps").watch { [weak session] text in
        guard let session else { return }
        do throws(CommandFailure) {
          session.play(try parser.scenario(try text.get(), of: file))
        } catch { session.tellOfScenario(error.message) }
      }
    }
    let code = await session.run()
    watch?.stop()
    if let failure = session.scenarioFailure { throw failure }
    if code != 0 { throw ExitCode(code) }
  }
}

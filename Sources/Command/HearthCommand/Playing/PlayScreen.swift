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
    let start = try ScreenStart(appearance, log, otherwise: "'hearth play' prints how each step ends")
    var options = start.options(storage)
    options.subject = .scenario(live)
    let session = try start.session(options)
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

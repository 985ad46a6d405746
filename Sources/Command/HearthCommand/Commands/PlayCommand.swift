// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import DashboardHost
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import Foundation

/// `hearth play`: a scenario.
struct PlayCommand: AsyncParsableCommand, WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Play a scenario: go offline, write, expect events in time.",
    discussion: """
      A file with one step per line, played by a client with a cache of its own, in memory or in the folder of \
      --cache; # begins a comment. It ends with 0 when every step succeeded and every write was answered as it should \
      be, 75 when an expected event or an answer did not come in time, 1 when something else happened, such as a \
      rejected write that no step expected, or writes that were not sent because it ends offline, and 65 for a line that is no step.

        listen PATH [where CONDITION] [order FIELD] [limit N]
        offline | online
        fault WORDS | calm
        set PATH JSON | update PATH FIELD=VALUE ... | delete PATH
        expect added|modified|removed [PATH] [within TIME]
        expect acknowledged|rejected [PATH] [within TIME]
        expect synced [within TIME]
        expect nothing [within TIME]

      Writes go into the queue while offline. A listener is synced when its result is the server's; nothing means that \
      no document changes and no write is answered. Events wait until a step expects them; those before the expected \
      one are passed over. TIME is 10s by default.
      """)

  @Argument(help: ArgumentHelp("The scenario; - reads standard input.", valueName: "file"))
  var file: String

  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions
  @OptionGroup var disturbance: FaultOptions

  mutating func run() async throws {
    let locations = storage.locations
    let name = file == "-" ? "standard input" : file
    let steps = try ScenarioParser(database: locations.database).steps(
      try DocumentArgument.text(ofFile: file), of: name)
    let connection = try locations.connect()
    let (headless, utcOffset) = (headless, TimeZone.current.secondsFromGMT())
    let run = ScenarioRun(name: name, steps: steps, clock: ContinuousClock()) { step in
      if headless.quiet { return }
      // One at a time, as it happens.
      let time = Timestamp.now.timeOfDay(utcOffset: utcOffset)
      try OutputFile.print("\(time)  ok  \(step.text)\n")
    } note: {
      headless.note(ShownText($0))
    }
    let faults = FaultInjector(disturbance.faults)
    try await run.run(
      at: connection, locations.commandStore(for: connection), inspectedAs: locations.inspection(faults),
      disturbedBy: faults)
  }
}

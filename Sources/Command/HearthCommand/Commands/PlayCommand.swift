// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import DashboardHost
import DataCommands
import FirestoreBackend
import FirestoreModel
import FirestoreText
import Foundation
import Glibc
import Scenarios

/// `hearth play`: runs scenarios.
struct PlayCommand: AsyncParsableCommand, WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Play scenarios: clients go offline, write and fail, and their events are checked.",
    discussion: """
      A scenario is a file with one step per line, - for standard input, or the name of a shipped scenario: --list \
      lists them, --show prints one. # starts a comment. 'hearth help testing' explains all steps.

      The clients have separate caches and use a backend in memory, in simulated time: an hour takes an instant, and \
      the same steps always have the same results. With a named backend (--emulator, --data, -C …) or with --real-time \
      the scenario uses that backend, in real time.

        listen PATH [where CONDITION] [order FIELD] [limit N] [as NAME] [with metadata] [from cache]
        offline | online | restart | kill | user UID | fault WORDS | calm
        set PATH JSON | merge | create | update PATH FIELD=VALUE ... | delete PATH | batch ... commit
        client NAME [user UID] [shares NAME], then NAME: STEP; server: WRITE
        rules FILE | rules ... end | rules none; bundle NAME from QUERY | bundle NAME ... end; load NAME; listen named NAME
        index COLLECTION FIELD [desc|contains], ... | indexes automatic|manual|none
        cache size BYTES | evict [PATH|QUERY] [older than TIME] | clock ahead TIME|behind TIME|right
        retry | drop #N | aside #N | again #N
        expect added|modified|removed|metadata|acknowledged|rejected [PATH] [on NAME] [with CODE] [within TIME]
        expect synced|cached|failed|nothing [on NAME]; expect pending N, results N, online, offline, same
        expect [no] document PATH [where CONDITION] [on NAME|at server|in cache]
        expect index|scan QUERY; expect [not] cached PATH; expect [no] estimate PATH; expect [no] streams
        wait TIME | wait for sync | snapshot [NAME] | caption TEXT | repeat N [as NAME] ... end

      Events are queued until a step expects them; a step skips events before the expected one. TIME is 10s by default.

      Exit status: 0 if every step succeeded and every write had the expected result, 75 after a timeout, 1 after any \
      other failure, such as a rejected write that no step expected, or writes that were not sent because the scenario \
      ends offline, and 65 for an invalid step. All scenarios are played; the status is the first failure's.

      --live plays one scenario in the dashboard: its clients are on the screen, and a strip above them shows each \
      step for --pace before it runs. space pauses, n runs a step, + and - change the pace, q quits. The exit status \
      is the same as without a screen, and 1 if you quit before the end. --step waits for a key before each step: \
      space on the screen, otherwise enter.

      --watch plays files, and plays a file again whenever it changes, with a line for the result, until it is \
      interrupted.

      --from FILE makes a scenario from a session of hearth record, or from the lines of hearth proxy --json --values. \
      Writes, network, faults and listeners become steps, listener events and write results become expectations, and \
      other clients' writes become writes of the server. The new scenario is played once. Comments in it and lines on \
      standard error name the parts that the record does not have, and the expectations that were not met.

      Example: hearth play --all --format tap
      """)

  @Argument(help: ArgumentHelp("Files or names of scenarios; - reads standard input.", valueName: "scenario"))
  var scenarios: [String] = []

  @Flag(help: "Play all shipped scenarios.")
  var all = false

  @Flag(help: "List the shipped scenarios, each with a summary.")
  var list = false

  @Flag(help: "Print the scenarios instead of playing them.")
  var show = false

  @Flag(help: "Play in real time, on the data that other commands use.")
  var realTime = false

  @Flag(help: "Play one scenario in the dashboard, at a pace that people can follow.")
  var live = false

  @Flag(help: "Wait for a key before each step: the space bar with --live, otherwise Enter.")
  var step = false

  @Option(
    help: ArgumentHelp("With --live: show each step this long before it runs. Default: 1s.", valueName: "time"),
    transform: { try DurationText.parse($0) })
  var pace: Duration?

  @Flag(help: "Play the files again whenever they change, until interrupted; print one line for each run.")
  var watch = false

  @Option(help: "Print steps as text or json, or results as tap or junit.")
  var format: Form = .text

  @Option(help: ArgumentHelp("Random seed, instead of the scenario's.", valueName: "number"))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp(
      "Play each scenario this many times, and fail unless all runs are the same, byte for byte.", valueName: "times"))
  var `repeat`: Int?

  @Option(
    help: ArgumentHelp(
      "Make a scenario from a recorded session, or from the lines of proxy --json --values; - reads standard input.",
      valueName: "file"))
  var from: String?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("With --from: write the scenario to a file, which must not exist yet.", valueName: "file"))
  var output: String?

  @OptionGroup var disturbance: FaultOptions
  @OptionGroup var appearance: AppearanceOptions
  @OptionGroup var log: LogOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  enum Form: String, ExpressibleByArgument, CaseIterable { case text, json, tap, junit }

  /// Whether the scenario runs with existing data.
  private var isReal: Bool { realTime || storage.isPlaceNamed }

  func validate() throws {
    if from != nil {
      let others = [(!scenarios.isEmpty, "the scenario"), (all, "--all"), (list, "--list"), (show, "--show")]
      if let other = others.first(where: \.0) {
        throw ValidationError("--from makes a scenario from a record. Remove \(other.1).")
      }
      if isReal { throw ValidationError("--from needs simulated time. Remove the backend options and --real-time.") }
      return
    }
    if output != nil { throw ValidationError("--output needs --from.") }
    if list { return }
    if let times = `repeat` {
      if !(2...10_000).contains(times) { throw ValidationError("--repeat takes a number from 2 to 10000.") }
      if isReal { throw ValidationError("--repeat needs simulated time. Remove the backend options and --real-time.") }
      if live || step || watch {
        throw ValidationError("--repeat compares many runs. Remove --live, --step and --watch.")
      }
    }
    if scenarios.isEmpty, !all { throw ValidationError("Name a scenario or a file, or use --all. --list lists them.") }
    if realTime, storage.inMemory, scenarios.count > 1 || all {
      throw ValidationError("--real-time with --in-memory plays only one scenario. Name one.")
    }
    if watch { try checkWatch() }
    if live { try checkLive() }
    if pace != nil, !live { throw ValidationError("--pace needs --live.") }
    if step { try checkStep() }
  }

  private func checkLive() throws {
    if show { throw ValidationError("--live and --show cannot be combined. Remove one of them.") }
    if scenarios.count != 1 || all { throw ValidationError("--live plays one scenario. Name one.") }
    if scenarios == ["-"] { throw ValidationError("--live reads keys from the terminal. Name a file instead of -.") }
    if format != .text { throw ValidationError("--live prints only its screen. Remove --format.") }
    if headless.quiet { throw ValidationError("--live is a screen. Remove --quiet.") }
  }

  private func checkStep() throws {
    if live { return }
    if show { throw ValidationError("--step and --show cannot be combined. Remove one of them.") }
    if watch {
      throw ValidationError("--step without --live waits for enter, but --watch waits for the file. Remove one.")
    }
    if scenarios.contains("-") {
      throw ValidationError(
        "--step waits for enter on standard input, which contains the scenario. Name a file instead of -.")
    }
    if isatty(STDIN_FILENO) == 0 {
      throw ValidationError("--step waits for enter, but standard input is not a terminal.")
    }
    if format != .text || headless.quiet {
      throw ValidationError("--step is interactive. Remove --format and --quiet.")
    }
  }

  private func checkWatch() throws {
    if all { throw ValidationError("--watch plays files that change. Shipped scenarios do not change. Remove --all.") }
    if show { throw ValidationError("--watch and --show cannot be combined. Remove one of them.") }
    if scenarios.contains("-") { throw ValidationError("--watch plays files that change. Name a file instead of -.") }
    if form == .tap || form == .junit {
      throw ValidationError("--watch never ends, but \(format) needs an end. Use text or json.")
    }
  }

  mutating func run() async throws {
    if let from { return try await convert(from) }
    if list {
      let width = (ShippedScenario.all.map(\.name.count).max() ?? 0) + 2
      let lines = ShippedScenario.all.map { shipped in
        shipped.name + String(repeating: " ", count: width - shipped.name.count) + shipped.summary
      }
      let output = OutputFile.standard()
      for line in lines { try output.line(ShownText(line)) }
      return try output.flush()
    }
    let locations = storage.locations
    let parser = ScenarioParser(database: locations.database)
    let texts = try scenarios.map { try PlayedText.read($0) }
    if live { return try await playLive(texts[0], parser, locations) }
    if watch { return try await PlayWatch(parser: parser, run: playing(locations)).watch(watched(texts)) }
    var chosen: [Scenario] = []
    for text in texts {
      chosen.append(try text.scenario(parser))
      if show { try OutputFile.print(data: text.shown) }
    }
    if all { chosen += try ShippedScenario.all.map { try parser.scenario($0.text, of: $0.name) } }
    if show { return }
    let run = playing(locations)
    let failure: CommandFailure?
    if let times = `repeat` {
      failure = try await run.play(chosen, times, in: locations.database, faults: disturbance.faults)
    } else {
      failure = try await run.play(chosen)
    }
    if let failure { throw failure }
  }

  private var form: ScenarioReport.Form { ScenarioReport.Form(rawValue: format.rawValue) ?? .text }

  private func playing(_ locations: StorageOptions.Locations) -> PlayRun {
    let command = self
    return PlayRun(form: form, headless: headless, seed: seed, tellsSteps: !watch, asks: step) {
      scenario throws(CommandFailure) in
      try command.world(scenario, locations)
    }
  }

  private func playLive(
    _ text: PlayedText, _ parser: ScenarioParser, _ locations: StorageOptions.Locations
  ) async throws {
    var scenario = try text.scenario(parser)
    if let seed { scenario.seed = seed }
    let (command, isReal) = (self, isReal)
    let place = isReal ? "real time, on the named backend" : "a backend in memory, and simulated time"
    var live = LiveScenario(scenario, in: place) { scenario in
      try command.world(scenario, locations)
    }
    live.isReal = isReal
    live.isStepped = step
    if let pace { live.pace = pace }
    let file = watch ? try watched([text])[0].name : nil
    let screen = PlayScreen(
      storage: locations, appearance: appearance, log: log, parser: parser, watched: file)
    try await screen.run(live)
  }

  /// - Throws: if one of the scenarios is shipped with the program. Only files can be watched.
  private func watched(_ texts: [PlayedText]) throws(CommandFailure) -> [PlayedText] {
    for text in texts where !FileManager.default.fileExists(atPath: text.name) {
      throw CommandFailure(
        .usage, "--watch plays files that change, but \(text.name) is shipped. Save it to a file with --show.")
    }
    return texts
  }

  /// Converts a recording to a scenario, runs the scenario, and prints it.
  private func convert(_ path: String) async throws {
    let made = try await RecordedScenario.make(of: path)
    if let output {
      try Self.create(output, made.text)
    } else {
      try OutputFile.print(data: made.text)
    }
    for remark in made.remarks { headless.note(ShownText(remark)) }
    if let failure = made.failure { throw failure }
  }

  private static func create(_ path: String, _ text: String) throws(CommandFailure) {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
    } catch CocoaError.fileWriteFileExists {
      throw CommandFailure(.cannotCreate, "\(path) already exists. Choose another name.")
    } catch {
      throw CommandFailure(.cannotCreate, "\(path) cannot be written: \(error.localizedDescription)")
    }
  }

  private func world(
    _ scenario: Scenario, _ locations: StorageOptions.Locations
  ) throws(CommandFailure) -> ScenarioWorld {
    guard isReal else {
      return try ScenarioWorld(simulating: locations.database, seed: scenario.seed, faults: disturbance.faults)
    }
    let connection = try locations.connect()
    let faults = FaultInjector(seed: scenario.seed, disturbance.faults)
    return try ScenarioWorld(
      at: connection, locations.commandStore(for: connection), inspectedAs: locations.inspection(faults),
      disturbedBy: faults, seed: scenario.seed)
  }
}

/// The text of a scenario, with its name in messages. It comes from a file, from standard input or from the program.
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
        throw CommandFailure(
          .noInput, "no file and no shipped scenario is named \(name). --list lists the shipped scenarios.")
      }
    }
    return PlayedText(name: name, text: try DocumentArgument.text(ofFile: name))
  }

  func scenario(_ parser: ScenarioParser) throws(CommandFailure) -> Scenario { try parser.scenario(text, of: name) }

  /// The text as `--show` prints it.
  var shown: String { text.hasSuffix("\n") ? text : text + "\n" }
}

/// A scenario that was converted from a recording and then run.
struct RecordedScenario: Sendable {
  let text: String
  /// The differences between the scenario and the recording, one per line.
  let remarks: [String]
  /// The reason why the converted scenario fails; `nil` if it passes.
  let failure: CommandFailure?

  /// - Parameter path: a recorded session, or the lines of `hearth proxy --json`; `-` for standard input.
  /// - Throws: `badData` if the file is of another kind, or has no events that a step can express.
  static func make(of path: String) async throws(CommandFailure) -> RecordedScenario {
    let (data, name) = try Recording.data(path: path)
    var remarks: [String] = []
    guard data.first == UInt8(ascii: "{") else {
      throw CommandFailure(
        .badData, "\(name):1: this is neither a session of hearth record nor a line of hearth proxy --json.")
    }
    let draft: ScenarioDraft
    if data.starts(with: Data(#"{"event":"#.utf8)) || data.starts(with: Data(#"{"at":"#.utf8)) {
      draft = try ProxyRecord.draft(data, name: name)
    } else {
      let recording = try Recording(data, name: name)
      remarks = recording.problems
      draft = try recording.draft()
    }
    let written = ScenarioExporter.write(draft)
    remarks += written.gaps.map { "not in the record: \($0)" }
    let checked = try await ScenarioDraftCheck.check(written.text, in: draft.database, until: .now + .seconds(20))
    remarks += checked.unmet.map { "not met when played: \($0)" }
    let failure = checked.failure.map { failure in
      CommandFailure(failure.status, "the new scenario fails: \(failure.message)")
    }
    return RecordedScenario(text: checked.text, remarks: remarks, failure: failure)
  }
}

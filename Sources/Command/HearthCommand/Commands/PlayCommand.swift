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

/// `hearth play`: scenarios.
struct PlayCommand: AsyncParsableCommand, WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Play scenarios: clients go offline, write, fail, and what they see is checked.",
    discussion: """
      A scenario is a file with one step per line, - for standard input, or the name of one that is shipped: --list names \
      those, --show prints one. # begins a comment. 'hearth help testing' has all steps.

      It is played by clients with caches of their own against a backend in memory, in a time of its own that passes when \
      nothing is left to do: an hour takes an instant, and the same steps do the same each time. Where a place is named \
      (--emulator, --data, -C …) or with --real-time it is played there, in real time.

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

      Events wait until a step expects them; those before the expected one are passed over. TIME is 10s by default.

      Exit status: 0 when every step succeeded and every write was answered as it should be, 75 when something did not \
      come in time, 1 when something else happened, such as a rejected write that no step expected, or writes that were \
      not sent because it ends offline, and 65 for a line that is no step. Of several scenarios all are played; the \
      status is that of the first that failed.

      --live plays one scenario in the dashboard: its clients are those on the screen, and a strip above them tells its \
      steps, each shown for --pace before it is done. space stops it, n does a step, + and - change the pace, q leaves; \
      the exit status is that of the run without a screen, and 1 if it was left before its end. --step waits for a key \
      before each step: space on the screen, enter without one.

      --watch plays files, and one again whenever it changes, with a line that tells how it went, until it is interrupted.

      --from FILE makes a scenario of a session that hearth record kept, or of the lines of hearth proxy --json --values: \
      writes, network, faults and listeners are steps, what listeners were told and how writes were answered are \
      expectations, and what others wrote are writes of the server. Remarks in it and lines on standard error name what \
      the record does not tell, and what does not come when the scenario is played, as it is once.

      Example: hearth play --all --format tap
      """)

  @Argument(help: ArgumentHelp("Files or names of scenarios; - reads standard input.", valueName: "scenario"))
  var scenarios: [String] = []

  @Flag(help: "Play all that are shipped.")
  var all = false

  @Flag(help: "Name those that are shipped, each with what it shows.")
  var list = false

  @Flag(help: "Print the scenarios instead of playing them.")
  var show = false

  @Flag(help: "Play in real time, on the data that other commands use.")
  var realTime = false

  @Flag(help: "Play one scenario in the dashboard, at a pace that people can follow.")
  var live = false

  @Flag(help: "Wait for a key before each step: space with --live, else enter on the terminal.")
  var step = false

  @Option(
    help: ArgumentHelp("With --live: show each step for so long before it is done. Default: 1s.", valueName: "time"),
    transform: { try DurationText.parse($0) })
  var pace: Duration?

  @Flag(help: "Play the files again whenever they change, until interrupted; a line tells how each time went.")
  var watch = false

  @Option(help: "Print steps as text or json, or results as tap or junit.")
  var format: Form = .text

  @Option(help: ArgumentHelp("The seed of chance, in place of that in the scenario.", valueName: "number"))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp(
      "Play each so often, and fail where not the same happens each time, byte by byte.", valueName: "times"))
  var `repeat`: Int?

  @Option(
    help: ArgumentHelp(
      "Print the scenario that a recorded session, or the lines of proxy --json --values, make; - reads standard input.",
      valueName: "file"))
  var from: String?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("With --from: write the scenario to a file, which must not be there yet.", valueName: "file"))
  var output: String?

  @OptionGroup var disturbance: FaultOptions
  @OptionGroup var appearance: AppearanceOptions
  @OptionGroup var log: LogOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  enum Form: String, ExpressibleByArgument, CaseIterable { case text, json, tap, junit }

  /// Whether the scenario runs on existing data.
  private var isReal: Bool { realTime || storage.isPlaceNamed }

  func validate() throws {
    if from != nil {
      let others = [(!scenarios.isEmpty, "the scenario"), (all, "--all"), (list, "--list"), (show, "--show")]
      if let other = others.first(where: \.0) {
        throw ValidationError("--from makes a scenario of a record; leave \(other.1) out.")
      }
      if isReal { throw ValidationError("--from plays what it makes in a time of its own; name no place.") }
      return
    }
    if output != nil { throw ValidationError("--output is about --from; give both.") }
    if list { return }
    if let times = `repeat` {
      if !(2...10_000).contains(times) { throw ValidationError("--repeat takes a number from 2 to 10000.") }
      if isReal { throw ValidationError("--repeat plays in a time of its own; name no place.") }
      if live || step || watch {
        throw ValidationError("--repeat compares many runs. Leave out --live, --step and --watch.")
      }
    }
    if scenarios.isEmpty, !all { throw ValidationError("Name a scenario, a file of one, or --all; --list lists some.") }
    if realTime, storage.inMemory, scenarios.count > 1 || all {
      throw ValidationError("--real-time with --in-memory plays one scenario.")
    }
    if watch { try checkWatch() }
    if live { try checkLive() }
    if pace != nil, !live { throw ValidationError("--pace is about --live; give both.") }
    if step { try checkStep() }
  }

  private func checkLive() throws {
    if show { throw ValidationError("--live plays and --show prints. Leave one of them out.") }
    if scenarios.count != 1 || all { throw ValidationError("--live plays one scenario; name one.") }
    if scenarios == ["-"] { throw ValidationError("--live reads keys from the terminal; name a file in place of -.") }
    if format != .text { throw ValidationError("--live prints nothing but its screen. Leave out --format.") }
    if headless.quiet { throw ValidationError("--live is a screen. Leave out --quiet.") }
  }

  private func checkStep() throws {
    if live { return }
    if show { throw ValidationError("--step plays and --show prints. Leave one of them out.") }
    if watch {
      throw ValidationError("--step without --live waits for enter, and --watch for the file. Leave one out.")
    }
    if scenarios.contains("-") {
      throw ValidationError(
        "--step waits for enter on standard input, which has the scenario; name a file in place of -.")
    }
    if isatty(STDIN_FILENO) == 0 {
      throw ValidationError("--step waits for enter on the terminal, and standard input is none.")
    }
    if format != .text || headless.quiet {
      throw ValidationError("--step is for people: leave out --format and --quiet.")
    }
  }

  private func checkWatch() throws {
    if all { throw ValidationError("--watch plays files that change; those that are shipped do not. Leave out --all.") }
    if show { throw ValidationError("--watch plays and --show prints. Leave one of them out.") }
    if scenarios.contains("-") { throw ValidationError("--watch plays files that change; standard input does not.") }
    if form == .tap || form == .junit {
      throw ValidationError("--watch never ends, and \(format) needs an end. It prints text, or json.")
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
    let place = isReal ? "real time, at the place that was named" : "a backend in memory, and a time of its own"
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

  /// - Throws: for a shipped scenario.
  private func watched(_ texts: [PlayedText]) throws(CommandFailure) -> [PlayedText] {
    for text in texts where !FileManager.default.fileExists(atPath: text.name) {
      throw CommandFailure(
        .usage, "--watch plays files that change, and \(text.name) is shipped: --show prints it, for a file of yours.")
    }
    return texts
  }

  /// Converts a recording to a scenario, plays it, and prints it.
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
      throw CommandFailure(.cannotCreate, "\(path) is there already: choose another name.")
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

/// A scenario converted from a recording, and played once.
struct RecordedScenario: Sendable {
  let text: String
  /// The differences from the recording, one per line.
  let remarks: [String]
  /// The reason why the converted scenario fails; `nil` if it passes.
  let failure: CommandFailure?

  /// - Parameter path: a recorded session, or the lines of `hearth proxy --json`; `-` for standard input.
  /// - Throws: `bad-data` for another kind of file, or one without events that a step can express.
  static func make(of path: String) async throws(CommandFailure) -> RecordedScenario {
    let (data, name) = try Recording.data(path: path)
    var remarks: [String] = []
    guard data.first == UInt8(ascii: "{") else {
      throw CommandFailure(
        .badData, "\(name):1: this is neither a session that hearth record kept nor a line of hearth proxy --json.")
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
    remarks += written.gaps.map { "not told by the record: \($0)" }
    let checked = try await ScenarioDraftCheck.check(written.text, in: draft.database, until: .now + .seconds(20))
    remarks += checked.unmet.map { "not met when it was played: \($0)" }
    let failure = checked.failure.map { failure in
      CommandFailure(failure.status, "the scenario that was made does not pass: \(failure.message)")
    }
    return RecordedScenario(text: checked.text, remarks: remarks, failure: failure)
  }
}

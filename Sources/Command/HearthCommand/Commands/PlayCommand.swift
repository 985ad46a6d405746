// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import DashboardHost
import FirestoreBackend
import FirestoreModel
import Foundation
import Scenarios
import Synchronization

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
        cache size BYTES | evict [PATH|QUERY] | clock ahead TIME|behind TIME|right
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
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  enum Form: String, ExpressibleByArgument, CaseIterable { case text, json, tap, junit }

  /// Whether the scenario is played on data that is there.
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
    }
    if scenarios.isEmpty, !all { throw ValidationError("Name a scenario, a file of one, or --all; --list lists some.") }
    if realTime, storage.inMemory, scenarios.count > 1 || all {
      throw ValidationError("--real-time with --in-memory plays one scenario.")
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
    var chosen: [Scenario] = []
    for name in scenarios {
      let (text, shown) = try Self.text(of: name)
      if show { try OutputFile.print(data: text.hasSuffix("\n") ? text : text + "\n") }
      chosen.append(try parser.scenario(text, of: shown))
    }
    if all {
      for shipped in ShippedScenario.all { chosen.append(try parser.scenario(shipped.text, of: shipped.name)) }
    }
    if show { return }
    if let times = `repeat` { return try await play(chosen, times, locations) }
    try await play(chosen, locations)
  }

  /// Makes a scenario of a record, plays it, and prints it.
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

  private func play(_ chosen: [Scenario], _ locations: StorageOptions.Locations) async throws {
    var report = ScenarioReport(ScenarioReport.Form(rawValue: format.rawValue) ?? .text)
    var first: CommandFailure?
    for var scenario in chosen {
      if let seed { scenario.seed = seed }
      for line in report.begin(scenario, isAlone: chosen.count == 1) { try Self.print(line) }
      let (headless, writer, played) = (headless, report, scenario)
      let isQuiet = headless.quiet && format == .text
      let last = LastStep()
      let run = ScenarioRun(scenario, in: try world(scenario, locations)) { done in
        last.note(done.elapsed)
        if isQuiet { return }
        // One at a time, as it happens.
        for line in writer.lines(done, of: played) { try Self.print(line) }
      } note: {
        headless.note(ShownText($0))
      }
      var failure: CommandFailure?
      do { try await run.run() } catch let error as CommandFailure { failure = error }
      for line in report.end(scenario, after: last.elapsed, failure) { try Self.print(line) }
      if let failure, chosen.count > 1, format == .text { headless.note(ShownText(failure.message)) }
      first = first ?? failure
    }
    for line in report.finish() { try Self.print(line) }
    if let first { throw first }
  }

  /// Plays scenarios several times each, and compares what they print.
  private func play(_ chosen: [Scenario], _ times: Int, _ locations: StorageOptions.Locations) async throws {
    var report = ScenarioReport(ScenarioReport.Form(rawValue: format.rawValue) ?? .text)
    var first: CommandFailure?
    for var scenario in chosen {
      if let seed { scenario.seed = seed }
      let repetition = ScenarioRepetition(scenario, in: locations.database, faults: disturbance.faults)
      var (lines, failure) = ([String](), CommandFailure?.none)
      do throws(CommandFailure) { lines = try await repetition.play(times) } catch { failure = error }
      if format == .text, failure == nil, !headless.quiet {
        try Self.print("\(scenario.name): \(times) times the same \(lines.count) lines.")
      }
      for line in report.end(scenario, after: .zero, failure) { try Self.print(line) }
      if let failure, chosen.count > 1, format == .text { headless.note(ShownText(failure.message)) }
      first = first ?? failure
    }
    for line in report.finish() { try Self.print(line) }
    if let first { throw first }
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

  /// The text of a file, of standard input, or of a shipped scenario, with its name in messages.
  private static func text(of name: String) throws(CommandFailure) -> (text: String, name: String) {
    if name == "-" { return (try DocumentArgument.text(ofFile: name), "standard input") }
    if !FileManager.default.fileExists(atPath: name), !name.contains("/") {
      if let shipped = ShippedScenario.all.first(where: { $0.name == name }) { return (shipped.text, name) }
      if !name.contains(".") {
        throw CommandFailure(.noInput, "there is no file \(name), and no such scenario is shipped; --list names those.")
      }
    }
    return (try DocumentArgument.text(ofFile: name), name)
  }

  private static func print(_ line: String) throws { try OutputFile.print("\(ShownText(line))\n") }
}

/// The time of the last step of a run, which is told by the step itself.
private final class LastStep: Sendable {
  private let time = Mutex(Duration.zero)
  var elapsed: Duration { time.withLock { $0 } }
  func note(_ elapsed: Duration) { time.withLock { $0 = elapsed } }
}

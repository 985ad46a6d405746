// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import DashboardHost
import DashboardModel
import Dispatch
import FirestoreBackend
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import Foundation
import Glibc
import Scenarios
import Synchronization
import Terminal
import TerminalTheme

/// Runs scenarios one after the other, and prints the results.
struct PlayRun: Sendable {
  let form: ScenarioReport.Form
  let headless: HeadlessOptions
  /// The random seed that replaces the scenario's seed.
  let seed: UInt64?
  /// Whether steps are printed as they run.
  var tellsSteps = true
  /// Whether each step waits for Enter on the terminal.
  var asks = false
  /// Creates the simulated or real environment of a scenario.
  let world: @Sendable (Scenario) throws(CommandFailure) -> ScenarioWorld

  private var isQuiet: Bool { (headless.quiet || !tellsSteps) && form == .text }

  /// - Returns: the first failure.
  func play(_ chosen: [Scenario]) async throws -> CommandFailure? {
    var report = ScenarioReport(form)
    var first: CommandFailure?
    for scenario in chosen {
      let failure = try await play(scenario, isAlone: chosen.count == 1, &report)
      if let failure, chosen.count > 1, form == .text, tellsSteps { headless.note(ShownText(failure.message)) }
      first = first ?? failure
    }
    for line in report.finish() { try Self.print(line) }
    return first
  }

  /// Runs each scenario several times in separate environments, and compares the outputs.
  /// - Parameter faults: the faults of each client at the start.
  /// - Returns: the first failure or the first difference.
  func play(
    _ chosen: [Scenario], _ times: Int, in database: DatabaseID, faults: [FaultChange]
  ) async throws -> CommandFailure? {
    var report = ScenarioReport(form)
    var first: CommandFailure?
    for var scenario in chosen {
      if let seed { scenario.seed = seed }
      let repetition = ScenarioRepetition(scenario, in: database, faults: faults)
      var (lines, failure) = ([String](), CommandFailure?.none)
      do throws(CommandFailure) { lines = try await repetition.play(times) } catch { failure = error }
      if form == .text, failure == nil, !isQuiet {
        try Self.print("\(scenario.name): \(times) runs with the same \(lines.count) lines.")
      }
      for line in report.end(scenario, after: .zero, failure) { try Self.print(line) }
      if let failure, chosen.count > 1, form == .text { headless.note(ShownText(failure.message)) }
      first = first ?? failure
    }
    for line in report.finish() { try Self.print(line) }
    return first
  }

  private func play(
    _ given: Scenario, isAlone: Bool, _ report: inout ScenarioReport
  ) async throws -> CommandFailure? {
    var scenario = given
    if let seed { scenario.seed = seed }
    for line in isQuiet ? [] : report.begin(scenario, isAlone: isAlone) { try Self.print(line) }
    let (headless, writer, played, isQuiet) = (headless, report, scenario, isQuiet)
    let last = LastStep()
    var place = try world(scenario)
    if asks { place.follower = StepQuestion(scenario: scenario).follower }
    let run = ScenarioRun(scenario, in: place) { done in
      last.note(done.elapsed)
      if isQuiet { return }
      // A single run prints its steps as they happen.
      for line in writer.lines(done, of: played) { try Self.print(line) }
    } note: {
      headless.note(ShownText($0))
    }
    var failure: CommandFailure?
    do { try await run.run() } catch let error as CommandFailure { failure = error }
    for line in report.end(scenario, after: last.elapsed, failure) { try Self.print(line) }
    return failure
  }

  private static func print(_ line: String) throws { try OutputFile.print("\(ShownText(line))\n") }
}

/// The elapsed time when the last step of a run was reported.
private final class LastStep: Sendable {
  private let time = Mutex(Duration.zero)
  var elapsed: Duration { time.withLock { $0 } }
  func note(_ elapsed: Duration) { time.withLock { $0 = elapsed } }
}

/// `hearth play --step`: prints each step on the terminal before it runs, and waits for Enter.
struct StepQuestion: Sendable {
  let scenario: Scenario

  /// A follower that waits for Enter before each step.
  var follower: ScenarioFollower {
    ScenarioFollower(before: { index in
      guard scenario.steps.indices.contains(index) else { return }
      let step = scenario.steps[index]
      try OutputFile.print("\(ShownText("  line \(step.line)  \(step.text)"))  [enter] ")
      guard await Self.hearsEnter() else {
        try OutputFile.print("\n")
        throw CommandFailure(
          .failure, "\(scenario.name) was stopped before its end, at line \(step.line), \(step.text).")
      }
    })
  }

  /// Waits for the end of a line on standard input, on a separate thread.
  /// - Returns: whether a line has ended; `false` at the end of the input.
  private static func hearsEnter() async -> Bool {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        var byte: UInt8 = 0
        while true {
          let count = read(STDIN_FILENO, &byte, 1)
          if count < 0, errno == EINTR { continue }
          if count <= 0 { return continuation.resume(returning: false) }
          if byte == UInt8(ascii: "\n") { return continuation.resume(returning: true) }
        }
      }
    }
  }
}

/// `hearth play --watch`: runs scenario files, and runs a file again when it changes, until the user interrupts it or
/// the reader disconnects. A line reports the result of each run.
struct PlayWatch: Sendable {
  let parser: ScenarioParser
  let run: PlayRun

  private struct Change: Sendable {
    let file: String
    /// The text, or the reason why it cannot be read.
    let text: Result<String, CommandFailure>
  }

  func watch(_ files: [PlayedText]) async throws {
    let (changes, continuation) = AsyncStream.makeStream(of: Change.self, bufferingPolicy: .bufferingNewest(64))
    let watches = try await MainActor.run { try Self.watches(files.map(\.name), continuation) }
    let interruptions = Surroundings.current.interruptions()
    let causes = interruptions.causes
    // The first run reads the files, because changes before the watch cause no event.
    for file in files {
      let text = Result { () throws(CommandFailure) in try Self.file(file.name).text(waits: false) }
      continuation.yield(Change(file: file.name, text: text))
    }
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { for await change in changes { try await play(change) } }
        group.addTask { _ = await causes.first { _ in true } }
        defer { group.cancelAll() }
        try await group.next()
      }
    } catch is CancellationError {
      // The end of a run in progress.
    }
    await MainActor.run { for watch in watches { watch.stop() } }
    withExtendedLifetime(interruptions) {}
  }

  private static func file(_ name: String) -> ServedFile { ServedFile(name, of: "steps") }

  @MainActor
  private static func watches(
    _ files: [String], _ changes: AsyncStream<Change>.Continuation
  ) throws(CommandFailure) -> [FileWatch] {
    var watches: [FileWatch] = []
    for name in files {
      let watch = file(name).watch { changes.yield(Change(file: name, text: $0)) }
      guard let watch else {
        for watch in watches { watch.stop() }
        throw CommandFailure(
          .inputOutput, "\(name) cannot be watched. It must be a regular file, and inotify must have a free watch.")
      }
      watches.append(watch)
    }
    return watches
  }

  // MARK: One run

  private enum Progress: String { case passed, failed, waiting }

  private func play(_ change: Change) async throws {
    let text: String
    switch change.text {
    case .failure(let failure):
      return try tell(.waiting, change.file, "\(failure.message) hearth plays the file when it exists again.")
    case .success(let found): text = found
    }
    do {
      let scenario = try PlayedText(name: change.file, text: text).scenario(parser)
      if let failure = try await run.play([scenario]) { throw failure }
      let steps = scenario.steps.count
      try tell(.passed, change.file, "\(change.file): \(steps) step\(steps == 1 ? "" : "s")")
    } catch let failure as CommandFailure { try tell(.failed, change.file, failure.message) }
  }

  private func tell(_ news: Progress, _ file: String, _ text: String) throws {
    guard run.form == .text else {
      let fields =
        ["type": .string("watch"), "file": .string(file), "result": .string(news.rawValue), "reason": .string(text)]
        as Fields
      return try OutputFile.print("\(ShownText(DocumentJSON.line(of: fields)))\n")
    }
    let time = TimeText.clock(.now, offset: TimeZone.current.secondsFromGMT())
    let word = news.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
    try OutputFile.print("\(ShownText("\(time)  \(word)  \(text)"))\n")
  }
}

/// `hearth play --live`: runs one scenario in the dashboard until the user leaves.
@MainActor
struct PlayScreen {
  let storage: StorageOptions.Locations
  let appearance: AppearanceOptions
  let log: LogOptions
  let parser: ScenarioParser
  /// The file that is run again when it changes; `nil` for none.
  let watched: String?

  /// - Throws: the failure that the same run without a screen would have.
  func run(_ live: LiveScenario) async throws {
    let start = try ScreenStart(appearance, log, otherwise: "'hearth play' prints the result of each step")
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

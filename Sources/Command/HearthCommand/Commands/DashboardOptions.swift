// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import Dashboard
import DashboardHost
import DashboardModel
import FirestoreBackend
import FirestoreModel
import FirestoreQuery
import FirestoreText
import Foundation
import Glibc
import Terminal
import TerminalTheme

/// The options of the dashboard, and what it does with them: a screen, lines, a replay or a picture.
struct DashboardOptions: ParsableArguments {
  @OptionGroup var storage: StorageOptions
  @OptionGroup var appearance: AppearanceOptions
  @OptionGroup var log: LogOptions
  @OptionGroup var picture: FrameOptions
  @OptionGroup var recording: RecordingOptions
  @OptionGroup var disturbance: FaultOptions

  @Option(help: BackendConfiguration.Durability.help)
  var sync = BackendConfiguration.Durability.normal

  @Flag(
    help: """
      Let three customers write a plausible stream of orders, users and chat messages, into a database of the demo's \
      own; into no other that has documents.
      """)
  var demo = false

  @Option(help: ArgumentHelp("Seed of the demo's stream.", valueName: "number"))
  var demoSeed: UInt64 = 7

  @Option(help: ArgumentHelp("How many times faster than people the demo's customers are.", valueName: "factor"))
  var demoSpeed = 1.0

  @Option(
    help: ArgumentHelp(
      "Let the demo write into this project of the named backend, whose database must be empty or the demo's own.",
      valueName: "project"))
  var demoWrites: String?

  @Option(
    help: ArgumentHelp(
      "Begin with so many clients side by side, 1 to 4, each with a cache, a queue and a network switch of its own. "
        + "--offline and --fault hold for all of them.", valueName: "number"),
    transform: DashboardOptions.clientCount)
  var clients = 1

  @Flag(help: "Start with the network switched off.")
  var offline = false

  @Option(
    name: .customShort("e"),
    help: ArgumentHelp(
      "Run commands of the palette at the start, by the names that --print-keys lists: \"offline 30s; wall\"; repeatable.",
      valueName: "commands"), transform: DashboardOptions.commands)
  var execute: [[String]] = []

  @Flag(
    help: """
      Take the line to the terminal for slow, as a long round trip does by itself: news is overwritten in place, clock \
      and ages move each 10 seconds.
      """)
  var slow = false

  @Flag(help: "Refuse everything that changes documents or waiting writes; what already waits is still sent.")
  var readonly = false

  @Flag(
    help: """
      No screen and no keys: print what happens as lines of words, for screen readers, pipes and logs, until the \
      reader goes away, a signal ends it, or standard input says quit. Words on standard input go offline, write, \
      tell the queue and expect events; help lists them. It ends with 1 if an expectation was not met.
      """)
  var plain = false

  @Flag(
    help: """
      With --plain: print a JSON object a line, of the feed, the queue, the status and answers to words. With --replay \
      and --messages: of the messages.
      """)
  var json = false

  @Option(
    help: ArgumentHelp(
      "With --plain: end after this long (500ms, 5s, 2m), with 1 if an expectation was not met.", valueName: "time"),
    transform: { try DurationText.parse($0) })
  var timeout: Duration?

  @Option(
    help: ArgumentHelp(
      "With --plain: a collection or document to listen to; repeatable. Default: every collection at the root; none at "
        + "Cloud Firestore, where reading costs money.", valueName: "path"))
  var listen: [String] = []

  @Option(
    help: ArgumentHelp(
      "Open the listeners of a file, as the dashboard's \"listeners: save to a file\" writes it; repeatable.",
      valueName: "file"))
  var listeners: [String] = []

  @Flag(
    help: """
      Start without the listeners that were open when this database was last looked at, and leave them to the start \
      after. The demo and --in-memory have none.
      """)
  var noRestore = false

  @Flag(help: "Print the key bindings, those of the configuration included, and exit.")
  var printKeys = false

  @Flag(help: "Print the configuration file with its defaults and exit.")
  var printConfig = false

  private static func commands(_ line: String) throws -> [String] {
    do throws(TextError) { return try TypedCommand.commands(in: line) } catch {
      throw ValidationError("\(error)")
    }
  }

  private static func clientCount(_ text: String) throws -> Int {
    guard let count = Int(text), 1...StageFacts.mostClients ~= count else {
      throw ValidationError("a screen has room for 1 to \(StageFacts.mostClients) clients, as in --clients 2.")
    }
    return count
  }

  /// Checks that the options go together.
  ///
  /// Not `validate`, which the parser calls before a command has named the file or the size that it is about.
  func check() throws {
    if !execute.isEmpty, plain || picture.frame != nil {
      let instead = plain ? "words on standard input tell --plain what to do" : "--keys presses keys for --frame"
      throw ValidationError("-e runs commands on the screen; \(instead).")
    }
    if slow, plain || picture.frame != nil {
      throw ValidationError("--slow is about the line to a screen, and there is none here. Leave it out.")
    }
    if clients > 1 {
      if plain {
        throw ValidationError(
          "--clients share a screen, and --plain tells of one client. Leave one of them out; scenarios of 'hearth play' "
            + "have several.")
      }
      if picture.frame != nil { throw ValidationError("--frame draws the screen of one client. Leave --clients out.") }
      if recording.replay != nil { throw ValidationError("--replay opens no client. Leave --clients out.") }
    }
    guard demoSpeed >= 0.001, demoSpeed <= 100_000 else {
      throw ValidationError("--demo-speed \(demoSpeed): give a number from 0.001 to 100000.")
    }
    if demoWrites != nil, !demo { throw ValidationError("--demo-writes is about --demo; give both.") }
    if demo, let name = storage.completion?.connection?.name, storage.isReadOnly {
      throw ValidationError("--demo writes, and the connection \(name) is read-only. Leave one of them out.")
    }
    if demo, readonly { throw ValidationError("--demo writes, and --readonly forbids that. Leave one of them out.") }
    if !disturbance.faults.isEmpty, picture.frame != nil || recording.replay != nil {
      throw ValidationError("--fault disturbs a client's network, and there is no client here. Leave it out.")
    }
    if !listeners.isEmpty, picture.frame != nil {
      throw ValidationError("--listeners opens listeners on data, and --frame has none. Leave one of them out.")
    }
    if plain, picture.script != nil {
      throw ValidationError("--script presses keys, and --plain has none. Words on standard input tell it what to do.")
    }
    try recording.validate(
      isPlain: plain, isDemo: demo, isPicture: picture.frame != nil, playsScript: picture.script != nil)
    if !listen.isEmpty, !plain {
      throw ValidationError("--listen goes with --plain; n in the dashboard adds a listener.")
    }
    if timeout != nil, !plain { throw ValidationError("--timeout ends --plain; q ends the dashboard.") }
    if json, !plain, !(recording.messages && recording.replay != nil) {
      throw ValidationError("--json goes with --plain; the commands that print JSON have the option of their own.")
    }
    if plain, listen.isEmpty, listeners.isEmpty,
      storage.remote.cloud || storage.remote.credentials != nil
    {
      throw ValidationError(
        "--plain would read all of a real database; name what to listen to with --listen or --listeners.")
    }
    guard demo, let backend = storage.namedBackend else { return }
    let project = storage.locations(Paths.ofProcess).database.project
    if demoWrites == project { return }
    if let demoWrites {
      throw ValidationError("--demo-writes names the project \(demoWrites), but the database is one of \(project).")
    }
    let remedy = backend.hasPrefix("--") ? "Leave one of them out." : "Unset it, or say --in-memory."
    throw ValidationError(
      "--demo writes into data of its own, but \(backend) names another backend. \(remedy) "
        + "To let it write there: --demo-writes \(project).")
  }

  @MainActor
  mutating func run() async throws {
    if printConfig { return try OutputFile.print(data: ConfigurationFile.template) }
    AllocatorArenas.limit()
    let paths = Paths.ofProcess
    let preferences = Preferences.read(paths)
    if printKeys {
      preferences.problems.forEach { StandardError.write("hearth: \($0)") }
      return try OutputFile.print("\(ShownText(lines: KeyReference.plainText(preferences.keymap)))\n")
    }
    if recording.messages, let replay = try recording.replayed() {
      for problem in replay.recording.problems { StandardError.write("hearth: \(problem)") }
      return try MessageReport.print(replay.recording, asJSON: json)
    }
    let background = ProcessInfo.processInfo.environment["COLORFGBG"].flatMap(Theme.Variant.init(colorFGBG:))
    let theme = try appearance.theme(preferences, background: background)
    if var request = try picture.request(theme.theme, preferences, appearance) {
      let replay = try recording.replayed()
      for problem in replay?.recording.problems ?? [] { StandardError.write("hearth: \(problem)") }
      request.recorded = replay?.state(for: request)
      if let file = recording.keeping.cast { return try writeCast(of: request, to: file) }
      // Text on a canvas is safe for a terminal, and the rest are the picture's own sequences.
      return try OutputFile.print(ShownText(verbatim: request.rendered()))
    }
    if demo, storage.namedBackend == nil, !storage.inMemory, storage.data == nil { storage.data = "\(paths.data)/demo" }
    if plain { return try await runPlain(paths, preferences) }
    guard isatty(STDOUT_FILENO) == 1 else {
      throw ValidationError(
        "standard output is not a terminal, so there is no dashboard. 'hearth --plain' prints what happens as lines; "
          + "'hearth --help' lists the commands without a screen.")
    }
    let replay = try recording.replayed()
    try Log.start(log, paths)
    let (definitions, problems) = try definitions()
    let notices =
      problems + Notices.about(preferences.problems, theme, paths)
      + EditorFile.abandoned(below: paths.state).map { folder in
        "A killed session left an edited text in \(folder). Delete it when you have what you need."
      }
    var options = Session.Options(
      storage: storage.locations(paths), durability: sync, isDemo: demo, demoSeed: demoSeed, demoSpeed: demoSpeed,
      startsOffline: offline, isReadOnly: readonly || storage.isReadOnly,
      restoresListeners: !noRestore && !demo && !storage.inMemory && preferences.file.restoresListeners != false
        && replay == nil,
      listeners: definitions, appearance: appearance, preferences: preferences, theme: theme,
      paths: paths, notices: notices + (replay?.recording.problems ?? []), keeping: recording.keeping,
      subject: replay.map { .recording($0) } ?? .client)
    options.script = try picture.demoScript()
    options.commands = execute.flatMap(\.self)
    options.isSlow = slow
    options.faults = disturbance.faults
    options.clientCount = clients
    let session: Session
    do {
      session = try Session(options)
    } catch let error as TerminalError {
      throw ValidationError("\(error.message). 'hearth --plain' needs no screen")
    }
    let code = await session.run()
    if code != 0 { throw ExitCode(code) }
  }

  /// Writes the script of a picture as a recording of the screen.
  private func writeCast(of request: FrameRequest, to file: String) throws {
    if !recording.force, FileManager.default.fileExists(atPath: file) {
      throw CommandFailure(
        .cannotCreate, "\(file) is there already: choose another name, or overwrite it with --force.")
    }
    let target = try ExportTarget(file)
    do { try target.file.data(String(decoding: request.cast().data(), as: UTF8.self)) } catch {
      target.discard()
      throw error
    }
    try target.commit()
  }

  /// The listeners in the files of --listeners, and the problems with entries that were left out.
  private func definitions() throws -> ([ListenerDefinition], [String]) {
    let database = storage.locations(Paths.ofProcess).database
    let files = try listeners.map { try ListenerFile.read($0, name: $0, database: database) }
    return (files.flatMap(\.definitions), files.flatMap(\.problems))
  }

  @MainActor
  private func runPlain(_ paths: Paths, _ preferences: Preferences) async throws {
    try Log.start(log, paths)
    let (definitions, problems) = try definitions()
    let database = storage.locations(paths).database
    var queries = try listen.map { Query(path: try DataPath.any($0)) }
    if demo, queries.isEmpty, definitions.isEmpty {
      queries = [DemoShop.orders, DemoShop.users, DemoShop.messages].map { Query(path: $0) }
    }
    var options = PlainSession.Options(
      storage: storage.locations(paths), isDemo: demo, demoSeed: demoSeed, demoSpeed: demoSpeed,
      stateFolder: paths.state, startsOffline: offline,
      listeners: queries.map { ListenerDefinition(name: ListenerRecord.defaultName(for: $0), query: $0) }
        + definitions,
      keymap: preferences.keymap, notices: problems + preferences.problems.map(paths.short),
      report: json ? .lines : .sentences, timeout: timeout, isReadOnly: readonly || storage.isReadOnly,
      words: { line in try PlainWordParser(database: database).word(line) })
    options.faults = disturbance.faults
    try await PlainSession(options).run()
  }
}

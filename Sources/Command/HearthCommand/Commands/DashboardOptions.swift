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
import Glibc
import Terminal
import TerminalTheme

/// The options of commands that show a dashboard with its own client.
struct DashboardOptions: ParsableArguments {
  @OptionGroup var storage: StorageOptions
  @OptionGroup var demo: DemoOptions
  @OptionGroup var appearance: AppearanceOptions
  @OptionGroup var log: LogOptions
  @OptionGroup var disturbance: FaultOptions

  @Option(help: BackendConfiguration.Durability.help)
  var sync = BackendConfiguration.Durability.normal

  @Option(
    help: ArgumentHelp(
      "Start with this number of clients side by side, 1 to 4, each with a separate cache, queue and network switch. "
        + "--offline and --fault apply to all of them.", valueName: "number"),
    transform: DashboardOptions.clientCount)
  var clients = 1

  @Flag(help: "Start with the network switched off.")
  var offline = false

  @Option(
    name: .customShort("e"),
    help: ArgumentHelp(
      "Run palette commands at the start, by their names in 'hearth keys': \"offline 30s; wall\"; repeatable.",
      valueName: "commands"), transform: DashboardOptions.commands)
  var execute: [[String]] = []

  @Flag(
    help: """
      Use fewer updates for a slow connection to the terminal, as hearth does automatically after a long round trip. \
      A message replaces the previous one, and clocks and ages are updated every 10 seconds.
      """)
  var slow = false

  @Flag(help: "Reject new writes and changes to the queue; writes that are already pending are still sent.")
  var readonly = false

  @Option(
    help: ArgumentHelp(
      "Open the listeners of a file that the command \"listeners: save to a file\" wrote; repeatable.",
      valueName: "file"))
  var listeners: [String] = []

  @Flag(
    help: """
      Start without the listeners of this database's last session, and keep them for the next start. The demo and \
      --in-memory have no saved listeners.
      """)
  var noRestore = false

  @Option(help: ArgumentHelp(DemoScript.help, valueName: "file"))
  var script: String?

  @Option(help: ArgumentHelp("Record the screen for asciinema: the bytes of each frame.", valueName: "file"))
  var cast: String?

  @Flag(help: "Overwrite existing files.")
  var force = false

  private static func commands(_ line: String) throws -> [String] {
    do throws(TextError) { return try TypedCommand.commands(in: line) } catch {
      throw ValidationError("\(error)")
    }
  }

  private static func clientCount(_ text: String) throws -> Int {
    guard let count = Int(text), 1...ClientSetFacts.mostClients ~= count else {
      throw ValidationError("a screen has room for 1 to \(ClientSetFacts.mostClients) clients, as in --clients 2.")
    }
    return count
  }

  func validate() throws {
    if demo.isOn, readonly { throw ValidationError("--demo writes, but --readonly forbids it. Remove one of them.") }
    try demo.check(storage)
  }

  /// Opens the dashboard. Returns when the user quits.
  /// - Parameter recording: the file to which the session is recorded; `nil` for none.
  @MainActor
  func run(recording: RecordingRequest? = nil) async throws {
    let start = try ScreenStart(appearance, log, otherwise: "'hearth plain' prints events as lines")
    let paths = start.paths
    var storage = storage
    demo.direct(&storage, paths)
    let (definitions, problems) = try ListenerFile.definitions(of: listeners, in: storage.locations(paths).database)
    var options = start.options(storage.locations(paths), problems + Self.abandonedEdits(paths))
    options.durability = sync
    options.demo = demo.settings
    options.startsOffline = offline
    options.isReadOnly = readonly || storage.isReadOnly
    options.restoresListeners =
      !noRestore && !demo.isOn && !storage.inMemory && start.preferences.file.restoresListeners != false
    options.listeners = definitions
    options.recordingFiles = RecordingFiles(recording: recording, cast: cast, replaces: force)
    options.script = try DemoScript.read(script)
    options.commands = execute.flatMap(\.self)
    options.isSlow = slow
    options.faults = disturbance.faults
    options.clientCount = clients
    try await start.run(options)
  }

  private static func abandonedEdits(_ paths: Paths) -> [String] {
    EditorFile.abandoned(below: paths.state).map { folder in
      "A killed session left an edited text in \(folder). Delete it when you no longer need it."
    }
  }
}

/// `hearth dashboard`, or `hearth` without arguments: the full-screen dashboard.
struct DashboardCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dashboard", abstract: "Open the full-screen dashboard, the default without a command.")

  @OptionGroup var dashboard: DashboardOptions

  func validate() throws {
    if dashboard.force, dashboard.cast == nil { throw ValidationError("--force needs --cast.") }
  }

  @MainActor
  mutating func run() async throws { try await dashboard.run() }
}

/// Prepares a screen for a command: reads the user's files and checks the terminal.
@MainActor
struct ScreenStart {
  let paths = Paths.ofProcess
  let preferences: Preferences
  private let appearance: AppearanceOptions
  private let theme: ThemeChoice
  private let alternative: String

  /// - Parameter alternative: what the error suggests if there is no terminal, such as `'hearth plain' prints lines`.
  /// - Throws: `ValidationError` if standard output is not a terminal.
  init(_ appearance: AppearanceOptions, _ log: LogOptions, otherwise alternative: String) throws {
    guard isatty(STDOUT_FILENO) == 1 else {
      throw ValidationError(
        "standard output is not a terminal, so no screen can open. \(alternative); 'hearth --help' lists the commands.")
    }
    AllocatorArenas.limit()
    preferences = Preferences.read(paths)
    theme = try appearance.theme(preferences, background: Theme.Variant.ofTerminal)
    try Log.start(log, paths)
    self.appearance = appearance
    self.alternative = alternative
  }

  /// The options of a session that needs only the location of its data.
  /// - Parameter notices: messages to the user, in addition to messages about the configuration.
  func options(_ storage: StorageOptions.Locations, _ notices: [String] = []) -> Session.Options {
    Session.Options(
      storage: storage, appearance: appearance, preferences: preferences, theme: theme, paths: paths,
      notices: Notices.about(preferences.problems, theme, paths) + notices)
  }

  /// - Throws: `ValidationError` for a terminal that cannot show a screen.
  func session(_ options: Session.Options) throws -> Session {
    do { return try Session(options) } catch let error as TerminalError {
      throw ValidationError("\(error.message). Without a screen, \(alternative)")
    }
  }

  /// Shows a session until it ends.
  /// - Throws: the exit status, unless it is 0.
  func run(_ options: Session.Options) async throws {
    let code = await (try session(options)).run()
    if code != 0 { throw ExitCode(code) }
  }
}

/// The options of the demo: the simulated customers, and the databases to which they may write.
struct DemoOptions: ParsableArguments {
  @Flag(
    name: .customLong("demo"),
    help: """
      Let three simulated customers write a plausible stream of orders, users and chat messages into a separate demo database. \
      The demo never writes to a database that has other documents.
      """)
  var isOn = false

  @Option(name: .customLong("demo-seed"), help: ArgumentHelp("Seed of the demo's stream.", valueName: "number"))
  var seed: UInt64 = 7

  @Option(
    name: .customLong("demo-speed"),
    help: ArgumentHelp("Speed of the demo's customers; 1 is the speed of people.", valueName: "factor"))
  var speed = 1.0

  @Option(
    name: .customLong("demo-writes"),
    help: ArgumentHelp(
      "Let the demo write to this project of the named backend. The database must be empty or belong to the demo.",
      valueName: "project"))
  var project: String?

  /// The settings of the demo; `nil` without a demo.
  var settings: DemoSettings? { isOn ? DemoSettings(seed: seed, speed: speed) : nil }

  /// - Throws: `ValidationError` if the demo may not write to the selected database.
  func check(_ storage: StorageOptions) throws {
    guard speed >= 0.001, speed <= 100_000 else {
      throw ValidationError("--demo-speed \(speed): use a number from 0.001 to 100000.")
    }
    guard isOn else {
      if project != nil { throw ValidationError("--demo-writes needs --demo.") }
      return
    }
    if let name = storage.completion?.connection?.name, storage.isReadOnly {
      throw ValidationError("--demo writes, but the connection \(name) is read-only. Remove one of them.")
    }
    guard let backend = storage.namedBackend else { return }
    let own = storage.locations(Paths.ofProcess).database.project
    if project == own { return }
    if let project {
      throw ValidationError("--demo-writes names the project \(project), but the database belongs to \(own).")
    }
    let remedy = backend.hasPrefix("--") ? "Remove one of them." : "Unset it, or use --in-memory."
    throw ValidationError(
      "--demo writes to a separate database, but \(backend) names another backend. \(remedy) "
        + "To let the demo write to that backend, add --demo-writes \(own).")
  }

  /// Selects a separate folder for the demo if the user selects no data.
  func direct(_ storage: inout StorageOptions, _ paths: Paths) {
    if isOn, storage.namedBackend == nil, !storage.inMemory, storage.data == nil { storage.data = "\(paths.data)/demo" }
  }
}

extension DemoScript {
  static let help: String = """
    Press the keys and show the captions in a file, each at its time. Lines are, for example, 'wait 2s', 'keys 1 j \
    enter', 'type orders', 'caption TEXT', 'pace 200ms', 'quit'.
    """

  /// - Parameter file: the name of the script; `-` for standard input, `nil` for none.
  /// - Throws: the error in the script, with its line.
  static func read(_ file: String?) throws(CommandFailure) -> DemoScript? {
    guard let file else { return nil }
    return try parse(try DocumentArgument.text(ofFile: file), name: file == "-" ? "standard input" : file)
  }
}

/// The listeners that a command line names.
struct ListenOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A collection or document to listen to; repeatable.", valueName: "path"))
  var listen: [String] = []

  @Option(
    help: ArgumentHelp(
      "Open the listeners of a file that the command \"listeners: save to a file\" wrote; repeatable.",
      valueName: "file"))
  var listeners: [String] = []

  /// - Throws: `ValidationError` if no listeners are named for Cloud Firestore, because each document that is read
  ///   there costs money.
  func check(_ storage: StorageOptions) throws {
    guard listen.isEmpty, listeners.isEmpty, storage.remote.isCloud else { return }
    throw ValidationError(
      "without --listen or --listeners this command reads every collection at the root, and Cloud Firestore bills each "
        + "document. Name the collections with --listen.")
  }

  /// - Returns: the listeners, and the problems of entries that were skipped.
  func definitions(in database: DatabaseID) throws -> ([ListenerDefinition], [String]) {
    let (fromFiles, problems) = try ListenerFile.definitions(of: listeners, in: database)
    return (try listen.map { Self.definition(Query(path: try DataPath.any($0))) } + fromFiles, problems)
  }

  static func definition(_ query: Query) -> ListenerDefinition {
    ListenerDefinition(name: ListenerRecord.defaultName(for: query), query: query)
  }
}

extension RemoteOptions {
  /// Whether the command line names Cloud Firestore.
  var isCloud: Bool { cloud || credentials != nil }
}

extension ListenerFile {
  /// Reads listener files.
  /// - Returns: the listeners, and the problems of entries that were skipped.
  static func definitions(of files: [String], in database: DatabaseID) throws -> ([ListenerDefinition], [String]) {
    let files = try files.map { try read($0, name: $0, database: database) }
    return (files.flatMap(\.definitions), files.flatMap(\.problems))
  }
}

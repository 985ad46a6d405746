// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import DashboardHost
import DashboardModel
import FirestoreModel
import FirestoreQuery
import FirestoreText
import TerminalTheme

/// `hearth plain`: the dashboard without a screen.
struct PlainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plain", abstract: "Print what happens as lines of words or JSON, and do what standard input says.",
    discussion: """
      For screen readers, pipes and logs, until the reader goes away, a signal ends it, or standard input says quit. \
      Words on standard input go offline, write, tell the queue and expect events; help lists them. It ends with 1 if \
      an expectation was not met.

      Example: printf 'queue\\nquit\\n' | hearth plain --listen cities
      """)

  @Option(
    help: ArgumentHelp(
      "A collection or document to listen to; repeatable. Default: every collection at the root; none at Cloud "
        + "Firestore, where reading costs money.", valueName: "path"))
  var listen: [String] = []

  @Option(
    help: ArgumentHelp(
      "Open the listeners of a file, as the dashboard's \"listeners: save to a file\" writes it; repeatable.",
      valueName: "file"))
  var listeners: [String] = []

  @Flag(help: "Print a JSON object a line, of the feed, the queue, the status and answers to words.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "End after this long (500ms, 5s, 2m), with 1 if an expectation was not met.", valueName: "time"),
    transform: { try DurationText.parse($0) })
  var timeout: Duration?

  @Flag(help: "Start with the network switched off.")
  var offline = false

  @Flag(help: "Refuse everything that changes documents or waiting writes; what already waits is still sent.")
  var readonly = false

  @OptionGroup var storage: StorageOptions
  @OptionGroup var demo: DemoOptions
  @OptionGroup var disturbance: FaultOptions
  @OptionGroup var log: LogOptions

  mutating func validate() throws {
    if demo.isOn, readonly { throw ValidationError("--demo writes, and --readonly forbids that. Leave one out.") }
    try demo.check(storage)
    if listen.isEmpty, listeners.isEmpty, storage.remote.cloud || storage.remote.credentials != nil {
      throw ValidationError(
        "this would read all of a real database; name what to listen to with --listen or --listeners.")
    }
  }

  @MainActor
  mutating func run() async throws {
    AllocatorArenas.limit()
    let paths = Paths.ofProcess
    let preferences = Preferences.read(paths)
    try Log.start(log, paths)
    demo.direct(&storage, paths)
    let database = storage.locations(paths).database
    let (definitions, problems) = try ListenerFile.definitions(of: listeners, in: database)
    var queries = try listen.map { Query(path: try DataPath.any($0)) }
    if demo.isOn, queries.isEmpty, definitions.isEmpty {
      queries = [DemoShop.orders, DemoShop.users, DemoShop.messages].map { Query(path: $0) }
    }
    var options = PlainSession.Options(
      storage: storage.locations(paths), demo: demo.settings, stateFolder: paths.state, startsOffline: offline,
      listeners: queries.map { ListenerDefinition(name: ListenerRecord.defaultName(for: $0), query: $0) }
        + definitions,
      keymap: preferences.keymap, notices: problems + preferences.problems.map(paths.short),
      report: json ? .lines : .sentences, timeout: timeout, isReadOnly: readonly || storage.isReadOnly,
      words: { line in try PlainWordParser(database: database).word(line) })
    options.faults = disturbance.faults
    try await PlainSession(options).run()
  }
}

extension ListenerFile {
  /// Reads files of listeners.
  /// - Returns: the listeners, and the problems with entries that were left out.
  static func definitions(of files: [String], in database: DatabaseID) throws -> ([ListenerDefinition], [String]) {
    let files = try files.map { try read($0, name: $0, database: database) }
    return (files.flatMap(\.definitions), files.flatMap(\.problems))
  }
}

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
    commandName: "plain", abstract: "Print events as lines of text or JSON, and run commands from standard input.",
    discussion: """
      For screen readers, pipes and logs. Runs until the reader closes, a signal arrives, or standard input contains \
      quit. Commands on standard input go offline, write, print the queue and expect events; help lists them. Exit \
      status 1 if an expectation was not met. Without --listen and --listeners it listens to every collection at the root, but \
      not at Cloud Firestore, where reads cost money.

      Example: printf 'queue\\nquit\\n' | hearth plain --listen cities
      """)

  @OptionGroup var listened: ListenOptions

  @Flag(help: "Print the feed, the queue, the status and the answers to commands as JSON, one object per line.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "Stop after this time (500ms, 5s, 2m), with exit status 1 if an expectation was not met.", valueName: "time"),
    transform: { try DurationText.parse($0) })
  var timeout: Duration?

  @Flag(help: "Start with the network switched off.")
  var offline = false

  @Flag(help: "Reject new writes and changes to the queue; writes that are already pending are still sent.")
  var readonly = false

  @OptionGroup var storage: StorageOptions
  @OptionGroup var demo: DemoOptions
  @OptionGroup var disturbance: FaultOptions
  @OptionGroup var log: LogOptions

  mutating func validate() throws {
    if demo.isOn, readonly { throw ValidationError("--demo writes, but --readonly forbids it. Remove one of them.") }
    try demo.check(storage)
    try listened.check(storage)
  }

  @MainActor
  mutating func run() async throws {
    AllocatorArenas.limit()
    let paths = Paths.ofProcess
    let preferences = Preferences.read(paths)
    try Log.start(log, paths)
    demo.direct(&storage, paths)
    let database = storage.locations(paths).database
    var (definitions, problems) = try listened.definitions(in: database)
    if demo.isOn, definitions.isEmpty {
      definitions = [DemoShop.orders, DemoShop.users, DemoShop.messages].map {
        ListenOptions.definition(Query(path: $0))
      }
    }
    var options = PlainSession.Options(
      storage: storage.locations(paths), demo: demo.settings, stateFolder: paths.state, startsOffline: offline,
      listeners: definitions,
      keymap: preferences.keymap, notices: problems + preferences.problems.map(paths.short),
      report: json ? .lines : .sentences, timeout: timeout, isReadOnly: readonly || storage.isReadOnly,
      words: { line in try PlainWordParser(database: database).word(line) })
    options.faults = disturbance.faults
    try await PlainSession(options).run()
  }
}

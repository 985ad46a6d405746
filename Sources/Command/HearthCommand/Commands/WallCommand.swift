// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
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

/// `hearth wall`: shows the last minute of all listeners, for a screen that is viewed from a distance.
struct WallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wall", abstract: "Show the last minute of all listeners on one screen, or as JSON.",
    discussion: """
      Shows one line for each listener: its events in each of the last 60 seconds, its documents, and its events per \
      second (the mean of ten seconds). Of the fields with few different values it picks the one that changes most, \
      and shows the document count of each value. Below are your writes, their round trips and the outages on the same \
      axis, and the latest events. Each step of a graph's height doubles the event count, or quadruples the \
      milliseconds. s sorts by rate or by name, enter shows the result of a listener, o goes offline, esc returns to \
      the dashboard, where M opens the wall again. At most two frames a second are sent.

      Without --listen and --listeners it shows the listeners of this database's last session, and does not change the \
      saved list. If there were none, and always with --json, it shows every collection at the root. At Cloud \
      Firestore it shows none, because reads cost money.

      With --json, prints an object each second with the figures that the screen shows: listeners (name, query, \
      documents, fromCache, error, perSecond, events, values), writes, roundTrips and outages. Each series starts with \
      the oldest second. Exit status 0 when the reader closes or after --timeout, and 128 plus the signal that ends \
      it.

      Example: hearth wall --listen orders --listen users
      """)

  @OptionGroup var listened: ListenOptions

  @Flag(help: "Print the figures as JSON, one object a second, without a screen.")
  var json = false

  @Option(
    help: ArgumentHelp("With --json: stop after this time (500ms, 5s, 2m).", valueName: "time"),
    transform: { try DurationText.parse($0) })
  var timeout: Duration?

  @OptionGroup var disturbance: FaultOptions
  @OptionGroup var storage: StorageOptions
  @OptionGroup var appearance: AppearanceOptions
  @OptionGroup var log: LogOptions

  mutating func validate() throws {
    if timeout != nil, !json { throw ValidationError("--timeout needs --json. On the screen, press q.") }
    if json { try listened.check(storage) }
  }

  @MainActor
  mutating func run() async throws {
    let paths = Paths.ofProcess
    let locations = storage.locations(paths)
    let (definitions, problems) = try listened.definitions(in: locations.database)
    if json {
      AllocatorArenas.limit()
      let preferences = Preferences.read(paths)
      for problem in problems + preferences.problems.map(paths.short) { StandardError.write("hearth: \(problem)") }
      var options = PlainSession.Options(
        storage: locations, listeners: definitions, keymap: preferences.keymap, notices: [], report: .wall,
        timeout: timeout)
      options.faults = disturbance.faults
      return try await PlainSession(options).run()
    }
    let start = try ScreenStart(appearance, log, otherwise: "'hearth wall --json' prints its figures")
    var options = start.options(locations, problems)
    options.isReadOnly = storage.isReadOnly
    options.restoresListeners = definitions.isEmpty && !storage.inMemory
    options.listeners = definitions
    options.isWall = true
    options.faults = disturbance.faults
    options.listensToRoot = definitions.isEmpty && !storage.remote.isCloud
    try await start.run(options)
  }
}

// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ClientPort
import CommandOptions
import DashboardHost
import DashboardModel
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreText
import Foundation

/// `hearth watch`: prints a listener's changes as lines.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print a line for every change of a document, a collection or a query.",
    discussion: """
      Prints the existing documents first, as added, then every change as it happens. Without --until the watch runs \
      until it is interrupted, its reader closes, or --timeout ends it, and exits with 0. With --until it exits with 0 \
      at that event, with 75 after a timeout, and with 128 plus the signal if it is interrupted first. A server that \
      is unreachable at the start is an error, 69, unless --cache names a cache to start with. If the server becomes \
      unreachable later, the watch reports it on standard error and waits.

      With --json, each line is an object with type (added, modified, removed), path, changed (the names of modified \
      fields), data, metadata (fromCache, pendingWrites), cause and time.

      Example: hearth watch cities --where 'state == CA' --no-initial --until added --timeout 30s --json
      """)

  @OptionGroup var queried: QueriedPath

  @Flag(help: "Also print a line when only the pending writes of a document change.")
  var includeMetadataChanges = false

  @Flag(help: "Skip the documents that exist at the start.")
  var noInitial = false

  @Flag(help: "Print JSON, one object per line.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "Stop after N changes; or at the first added, modified, removed or metadata change (of one document: added "
        + "cities/SF); or when all existing documents are printed (synced).",
      valueName: "number|event"),
    transform: { try EventGoal.parse($0, among: EventPattern.Kind.watched) })
  var until: EventGoal?

  @Option(
    help: ArgumentHelp("Stop after this time (500ms, 5s, 2m, 1h30m).", valueName: "time"),
    transform: { try DurationText.parse($0) })
  var timeout: Duration?

  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions
  @OptionGroup var disturbance: FaultOptions

  mutating func run() async throws {
    let locations = storage.locations
    let query = try queried.query(in: locations.database)
    let run = WatchRun(
      query: query, includesMetadata: includeMetadataChanges, skipsInitial: noInitial, isJSON: json, goal: until,
      timeout: timeout, startsFromCache: storage.cache != nil, isEmbedded: locations.backend.isEmbedded,
      headless: headless)
    try locations.requireData()
    let connection = try locations.connect()
    let faults = FaultInjector(disturbance.faults)
    try await run.run(
      at: connection, locations.commandStore(for: connection), inspectedAs: locations.inspection(faults),
      disturbedBy: faults)
  }
}

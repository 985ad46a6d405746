// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import Dashboard
import DashboardModel
import DatastoreTapping
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite
import FirestoreSharing

import class Hearth.Client

/// The parts of a client of the dashboard: its cache, the connection to its backend, and the demo that writes to that
/// backend.
@MainActor
package struct ClientSource {
  private static let cacheThreshold: Int64 = 100 * 1024 * 1024

  let bridge: ClientBridge
  private let client: Client
  let connection: BackendConnection
  private let reports = StorageReports()

  /// - Parameter tap: observes the messages between the client and its datastore, including injected faults.
  init(
    _ options: Session.Options, _ tap: MessageTap?, report: @escaping @MainActor (ScreenEvent) -> Void
  ) throws(StoreError) {
    connection = try BackendConnection.openOrFallBack(
      options.storage.backend, options.storage.database, options.durability, reports: reports)
    let faults = FaultInjector(seed: options.demo?.seed ?? DemoSettings.standardSeed, options.faults)
    let faulty = FaultyDatastore(connection.datastore, faults: faults, clock: ContinuousClock())
    client = Client(
      options.storage.store(
        for: connection, .leastRecentlyUsed(thresholdBytes: Self.cacheThreshold), reports: reports),
      datastore: tap.map { TappedDatastore(faulty, of: options.storage.database, tap: $0) } ?? faulty,
      isNetworkEnabled: !options.startsOffline, inspectedAs: options.storage.inspection(faults))
    bridge = ClientBridge(
      client, faults: faults, dataNotice: connection.problem, data: connection.data,
      transferPlace: options.storage.transferPlace(connection), startsOffline: options.startsOffline,
      control: EmulatorControl(of: options.storage.backend),
      tellsCommits: BackendConnection.name(options.storage).kind != .cloud, report: report)
  }

  /// Starts reporting events. Opens the listeners of the command line and of earlier sessions.
  /// - Returns: the first messages to the user.
  func begin(in group: inout TaskGroup<Void>, _ session: Session) -> [String] {
    group.addTask { [bridge] in await bridge.followStatus() }
    group.addTask { [bridge] in await bridge.followCompany() }
    group.addTask { [bridge, reports] in
      for await sentence in reports.sentences { await bridge.tell(.notice(.warning, sentence)) }
    }
    let options = session.options
    if let demo = options.demo { add(demo, to: &group, session) }
    session.restoreListeners(of: connection)
    return [connection.data?.durabilityWarning(options.durability)].compactMap(\.self)
  }

  private func add(_ settings: DemoSettings, to group: inout TaskGroup<Void>, _ session: Session) {
    let options = session.options
    let demo = DemoClient(
      datastore: connection.datastore, ground: DemoGround(options.storage, connection, notes: options.paths.state),
      seed: settings.seed, speed: settings.speed, clock: ContinuousClock())
    let notify: @MainActor @Sendable (String) -> Void = { [weak session] in session?.notify(.warning, $0) }
    group.addTask { await demo.run(notify: notify) }
    for collection in [DemoShop.orders, DemoShop.users, DemoShop.messages] {
      let query = Query(path: collection)
      session.apply(
        .listen(
          query, name: ListenerRecord.defaultName(for: query), ListenerOptions(includeMetadataChanges: true), at: .now))
    }
  }

  func end() async {
    // The import records its progress.
    await bridge.transferring?.value
    await client.terminate()
  }
}

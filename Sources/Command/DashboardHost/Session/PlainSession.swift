// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
import CommandOutput
package import Dashboard
package import DashboardModel
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import Foundation
import TerminalCanvas

import class Hearth.Client

/// The dashboard without a screen and keys: its events as lines, until the reader goes away or a signal ends it.
@MainActor
package final class PlainSession {
  package struct Options {
    package var storage: StorageOptions.Locations
    package var isDemo: Bool
    package var demoSeed: UInt64
    package var demoSpeed: Double
    /// The folder of the note about the databases that the demo may write to.
    package var stateFolder: String
    package var startsOffline: Bool
    /// The listeners; none for every collection at the root.
    package var listeners: [ListenerDefinition]
    package var keymap: Keymap
    /// Messages for the user at the start.
    package var notices: [String]

    package init(
      storage: StorageOptions.Locations, isDemo: Bool, demoSeed: UInt64, demoSpeed: Double, stateFolder: String,
      startsOffline: Bool, listeners: [ListenerDefinition], keymap: Keymap, notices: [String]
    ) {
      self.storage = storage
      self.isDemo = isDemo
      self.demoSeed = demoSeed
      self.demoSpeed = demoSpeed
      self.stateFolder = stateFolder
      self.startsOffline = startsOffline
      self.listeners = listeners
      self.keymap = keymap
      self.notices = notices
    }
  }

  private let options: Options
  private let output = OutputFile.standard()
  private var state: DashboardState
  private var transcript = Transcript()
  private var bridge: ClientBridge?
  private var listened: Set<String> = []
  /// The reason why output is no longer possible; `nil` while it is.
  private var failure: (any Error)?
  private var failed: (() -> Void)?

  package init(_ options: Options) {
    self.options = options
    let configuration = DashboardConfiguration(
      database: options.storage.database,
      backend: BackendConnection.name(options.storage),
      utcOffset: TimeZone.current.secondsFromGMT(), glyphs: .unicode, keymap: options.keymap, isReadOnly: true)
    state = DashboardState(configuration, size: Size(width: 120, height: 36), now: .now)
  }

  /// - Throws: the error of the data or the output; `Interrupted` for a signal.
  package func run() async throws {
    let interruptions = Surroundings.current.interruptions()
    let causes = interruptions.causes
    let connection = try options.storage.connect()
    let cache = options.storage.store(for: connection, .leastRecentlyUsed(thresholdBytes: 100 * 1024 * 1024))
    let client = Client(cache, datastore: connection.datastore, isNetworkEnabled: !options.startsOffline)
    let bridge = ClientBridge(
      client, faults: FaultInjector(seed: options.demoSeed), dataNotice: connection.problem, data: connection.data,
      transferPlace: options.storage.transferPlace(connection)
    ) { [weak self] event in self?.apply(.client(event, at: .now)) }
    self.bridge = bridge
    let (failures, failing) = AsyncStream.makeStream(of: Void.self)
    failed = { failing.yield() }

    for notice in options.notices { apply(.client(.notice(.warning, notice), at: .now)) }
    let end = await withTaskGroup(of: Interruptions.Cause?.self) { group in
      group.addTask {
        await bridge.followStatus()
        return nil
      }
      group.addTask {
        await bridge.followCompany()
        return nil
      }
      group.addTask { await causes.first { _ in true } }
      group.addTask {
        _ = await failures.first { _ in true }
        return .readerGone
      }
      if options.listeners.isEmpty { followCollections(in: &group) }
      if options.isDemo { addDemo(at: connection, to: &group) }
      perform(DashboardState.initialEffects)
      perform(state.open(options.listeners).effects)
      var end: Interruptions.Cause?
      while end == nil, let finished = await group.next() { end = finished }
      bridge.close()
      group.cancelAll()
      await group.waitForAll()
      return end
    }
    await client.terminate()
    withExtendedLifetime(interruptions) {}
    if let failure { throw failure }
    if case .signal(let number)? = end { throw Interrupted(signal: number) }
  }

  /// Looks for new collections regularly, since a new one raises no event.
  private func followCollections(in group: inout TaskGroup<Interruptions.Cause?>) {
    let look: @MainActor @Sendable () -> Void = { [weak self] in self?.perform(DashboardState.initialEffects) }
    group.addTask {
      // The sleep is cancelled at the end.
      while (try? await ContinuousClock().sleep(for: .seconds(10))) != nil { await look() }
      return nil
    }
  }

  private func addDemo(at connection: BackendConnection, to group: inout TaskGroup<Interruptions.Cause?>) {
    let demo = DemoClient(
      datastore: connection.datastore, ground: DemoGround(options.storage, connection, notes: options.stateFolder),
      seed: options.demoSeed, speed: options.demoSpeed, clock: ContinuousClock())
    let notify: @MainActor @Sendable (String) -> Void = { [weak self] text in
      self?.apply(.client(.notice(.warning, text), at: .now))
    }
    group.addTask {
      await demo.run(notify: notify)
      return nil
    }
  }

  private func apply(_ action: Action) {
    perform(update(&state, action))
    do {
      for line in transcript.news(of: state) { try output.line(ShownText(json: line)) }
      try output.flush()
    } catch {
      if failure == nil { failure = error }
      failed?()
    }
    guard options.listeners.isEmpty, case .client(.collections(let parent, let ids), _) = action, parent.isRoot else {
      return
    }
    for id in ids { listen(to: Query(path: ResourcePath(id))) }
  }

  private func listen(to query: Query) {
    guard listened.insert(query.path.text).inserted else { return }
    perform(state.listen(to: query, name: ListenerRecord.defaultName(for: query)))
  }

  private func perform(_ effects: [Effect]) {
    for effect in effects {
      // Effects on a terminal do not apply here.
      if case .client(let effect) = effect { bridge?.perform(effect) }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import CommandOptions
import CommandOutput
package import Dashboard
package import DashboardModel
import DashboardView
import FirestoreBackend
package import FirestoreClientState
import FirestoreGRPC
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import Foundation
import TerminalCanvas

import class Hearth.Client

/// The dashboard without a screen and keys. It prints its events as lines, until the reader disconnects or a signal
/// arrives. Commands on standard input control it.
@MainActor
package final class PlainSession {
  /// The output format.
  package enum Report {
    /// A line of text for each event.
    case sentences
    /// A line of JSON for each event.
    case lines
    /// The statistics of the wall (the view of all listeners) each second, as JSON.
    case wall
  }

  package struct Options {
    package var storage: StorageOptions.Locations
    /// The settings of the demo, which writes to the backend; `nil` if no demo runs.
    package var demo: DemoSettings?
    /// The folder with the record of the databases to which the demo may write.
    package var stateFolder: String
    package var startsOffline: Bool
    /// The listeners to start. If there are none, the session starts a listener for each root collection.
    package var listeners: [ListenerDefinition]
    package var keymap: Keymap
    /// Messages to the user at the start.
    package var notices: [String]
    package var report: Report
    /// The timeout of the session; `nil` for none.
    package var timeout: Duration?
    /// Whether commands that write are rejected.
    package var isReadOnly: Bool
    /// Parses a line of standard input. `nil` if standard input is not read.
    package var words: (@Sendable (String) throws -> PlainWord?)?
    /// The faults that are set at the start.
    package var faults: [FaultChange] = []

    package init(
      storage: StorageOptions.Locations, demo: DemoSettings? = nil,
      stateFolder: String = "", startsOffline: Bool = false, listeners: [ListenerDefinition], keymap: Keymap,
      notices: [String], report: Report = .sentences, timeout: Duration? = nil, isReadOnly: Bool = true,
      words: (@Sendable (String) throws -> PlainWord?)? = nil
    ) {
      self.storage = storage
      self.demo = demo
      self.stateFolder = stateFolder
      self.startsOffline = startsOffline
      self.listeners = listeners
      self.keymap = keymap
      self.notices = notices
      self.report = report
      self.timeout = timeout
      self.isReadOnly = isReadOnly
      self.words = words
    }
  }

  /// The reason why the session ends.
  private enum End: Sendable {
    case interrupted(Interruptions.Cause)
    case quit
  }

  let options: Options
  private let output = OutputFile.standard()
  var state: DashboardState
  private var transcript = Transcript()
  private var lines = SessionLines()
  private(set) var bridge: ClientBridge?
  private var rootListening: RootListening?
  /// The error that makes further output impossible; `nil` if there is none.
  private var failure: (any Error)?
  private var failed: (() -> Void)?
  private var events = PlainEvents()
  /// The condition that a command waits for, and the continuation to resume. The condition is checked after each
  /// action.
  private var awaited: (isMet: @MainActor (PlainSession) -> Bool, waiter: CheckedContinuation<Bool, Never>)?
  var failedExpectations = 0
  /// Records which requests were already reported; `nil` if requests are not reported.
  var followedRequests: FollowedRequests?
  /// Yields when the session must start to report requests.
  private let following = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  package init(_ options: Options) {
    self.options = options
    rootListening = options.listeners.isEmpty ? RootListening() : nil
    let configuration = DashboardConfiguration(
      database: options.storage.database,
      backend: BackendConnection.name(options.storage),
      utcOffset: TimeZone.current.secondsFromGMT(), glyphs: .spoken, keymap: options.keymap, isReadOnly: true)
    state = DashboardState(configuration, size: Size(width: 120, height: 36), now: .now)
  }

  /// - Throws: the error of the data or of the output; `Interrupted` if a signal ended the session.
  package func run() async throws {
    let interruptions = Surroundings.current.interruptions()
    let causes = interruptions.causes
    let connection = try options.storage.connect()
    let reports = StorageReports()
    let cache = options.storage.store(
      for: connection, .leastRecentlyUsed(thresholdBytes: 100 * 1024 * 1024), reports: reports)
    let faults = FaultInjector(seed: options.demo?.seed ?? DemoSettings.standardSeed, options.faults)
    let client = Client(
      cache, datastore: FaultyDatastore(connection.datastore, faults: faults, clock: ContinuousClock()),
      isNetworkEnabled: !options.startsOffline, inspectedAs: options.storage.inspection(faults))
    let bridge = ClientBridge(
      client, faults: faults, dataNotice: connection.problem, data: connection.data,
      transferPlace: options.storage.transferPlace(connection), control: EmulatorControl(of: options.storage.backend)
    ) { [weak self] event in self?.apply(Action(event, at: .now)) }
    self.bridge = bridge
    let (failures, failing) = AsyncStream.makeStream(of: Void.self)
    failed = { failing.yield() }

    for notice in options.notices { apply(.host(.notice(.warning, notice), at: .now)) }
    let end = await withTaskGroup(of: End?.self) { group in
      group.addTask {
        await bridge.followStatus()
        return nil
      }
      group.addTask {
        await bridge.followCompany()
        return nil
      }
      group.addTask {
        for await sentence in reports.sentences { await bridge.tell(.notice(.warning, sentence)) }
        return nil
      }
      group.addTask { await causes.first { _ in true }.map { End.interrupted($0) } }
      group.addTask {
        _ = await failures.first { _ in true }
        return .interrupted(.readerGone)
      }
      group.addTask { await self.followWords() ? .quit : nil }
      let wanted = following.stream
      group.addTask {
        guard await wanted.first(where: { _ in true }) != nil else { return nil }
        // The sleep is cancelled at the end.
        while (try? await ContinuousClock().sleep(for: .seconds(1))) != nil { await self.tellRequests() }
        return nil
      }
      if let timeout = options.timeout {
        // The sleep is cancelled when another event ends the session.
        group.addTask { (try? await ContinuousClock().sleep(for: timeout)) == nil ? nil : .quit }
      }
      if options.listeners.isEmpty { followCollections(in: &group) }
      if options.report == .wall { reportEachSecond(in: &group) }
      if let demo = options.demo { add(demo, at: connection, to: &group) }
      perform(DashboardState.initialEffects)
      perform(state.open(options.listeners).effects)
      var end: End?
      while end == nil, let finished = await group.next() { end = finished }
      bridge.close()
      giveUp()
      group.cancelAll()
      await group.waitForAll()
      return end
    }
    await client.terminate()
    withExtendedLifetime(interruptions) {}
    if let failure { throw failure }
    if case .interrupted(.signal(let number))? = end { throw Interrupted(signal: number) }
    if failedExpectations > 0 {
      throw CommandFailure(
        .failure, "\(failedExpectations) expectation\(failedExpectations == 1 ? " was" : "s were") not met.")
    }
  }

  /// Polls for new collections, because a new collection causes no event.
  private func followCollections(in group: inout TaskGroup<End?>) {
    let look: @MainActor @Sendable () -> Void = { [weak self] in self?.perform(DashboardState.initialEffects) }
    group.addTask {
      // The sleep is cancelled at the end.
      while (try? await ContinuousClock().sleep(for: .seconds(10))) != nil { await look() }
      return nil
    }
  }

  private func reportEachSecond(in group: inout TaskGroup<End?>) {
    let report: @MainActor @Sendable () -> Void = { [weak self] in
      guard let self else { return }
      apply(.tick(.now))
      print([WallReport.line(of: state)])
    }
    group.addTask {
      while true {
        let now = Timestamp.now
        let wait = now.nextSecond.microseconds - now.microseconds
        // The sleep is cancelled at the end.
        guard (try? await ContinuousClock().sleep(for: .microseconds(wait))) != nil else { return nil }
        await report()
      }
    }
  }

  private func add(_ settings: DemoSettings, at connection: BackendConnection, to group: inout TaskGroup<End?>) {
    let demo = DemoClient(
      datastore: connection.datastore, ground: DemoGround(options.storage, connection, notes: options.stateFolder),
      seed: settings.seed, speed: settings.speed, clock: ContinuousClock())
    let notify: @MainActor @Sendable (String) -> Void = { [weak self] text in
      self?.apply(.host(.notice(.warning, text), at: .now))
    }
    group.addTask {
      await demo.run(notify: notify)
      return nil
    }
  }

  private func apply(_ action: Action) {
    // A batch must be found before its end is reported, which removes it from the queue.
    if options.words != nil, case .client(let event, _) = action {
      events.note(
        event.observed({ [state] tag in state.listeners.first { $0.tag == tag }?.name }) { [state] in
          state.writes.documents(of: $0)
        })
    }
    perform(update(&state, action))
    if case .host(.undoConflict(let conflict), _) = action {
      let paths = conflict.documents.map(\.key.path.text).joined(separator: ", ")
      say("nothing was undone: \(paths) changed since")
    }
    if let awaited, awaited.isMet(self) { finish(awaited.waiter, true) }
    switch options.report {
    case .sentences: print(transcript.news(of: state))
    case .lines: print(lines.news(of: state))
    case .wall: break
    }
    for query in rootListening?.queries(after: action) ?? [] {
      perform(state.listen(to: query, name: ListenerRecord.defaultName(for: query)))
    }
  }

  /// Starts to poll for requests each second.
  func beginFollowing() { following.continuation.yield() }

  // MARK: Expectations

  /// Waits for an event. Events that an earlier expectation has consumed do not count.
  /// - Returns: whether the event arrived before the timeout and before the session's end.
  func waits(for pattern: EventPattern, within limit: Duration) async -> Bool {
    if events.take(pattern) { return true }
    return await wait(within: limit) { $0.events.take(pattern) }
  }

  /// - Returns: the first unexpected event. It may have arrived earlier without being consumed, or arrive before the
  ///   timeout.
  func surprise(within limit: Duration) async -> ObservedEvent? {
    _ = await wait(within: limit) { _ in false }
    return events.takeSurprise()
  }

  /// Waits until a condition is true. It is checked after each action.
  /// - Returns: whether the condition was true before the timeout and before the session's end.
  func wait(within limit: Duration, _ isMet: @escaping @MainActor (PlainSession) -> Bool) async -> Bool {
    // The sleep is cancelled when the event comes.
    let patience = Task { if (try? await ContinuousClock().sleep(for: limit)) != nil { self.giveUp() } }
    defer { patience.cancel() }
    return await withCheckedContinuation { awaited = (isMet, $0) }
  }

  private func finish(_ waiter: CheckedContinuation<Bool, Never>, _ isMet: Bool) {
    awaited = nil
    waiter.resume(returning: isMet)
  }

  private func giveUp() { if let awaited { finish(awaited.waiter, false) } }

  /// Prints a line with the time, or as JSON.
  /// - Parameter isMet: whether the line's expectation was met; `nil` if the line is about something else.
  func say(_ line: String, isMet: Bool? = nil) {
    if options.report == .lines { return print([SessionLines.answer(line, isMet: isMet)]) }
    print([TimeText.milliseconds(.now, offset: state.configuration.utcOffset, from: .hours) + " " + line])
  }

  func print(_ lines: [String]) {
    do {
      for line in lines { try output.line(ShownText(json: line)) }
      try output.flush()
    } catch {
      if failure == nil { failure = error }
      failed?()
    }
  }

  /// The client's current status; `nil` after the session has ended.
  func status() async -> ClientStatus? { await bridge?.status() }

  /// The client's current internals; `nil` after the session has ended.
  func inside() async throws -> (ClientInside, CacheSurvey)? {
    guard let engine = bridge?.engine else { return nil }
    return (try await engine.inside(), try await engine.surveyCache())
  }

  func stop(_ listener: ListenerRecord) {
    perform([.client(.unlisten(listener.tag))])
    apply(.client(.listenerStopped(listener.tag), at: .now))
  }

  func perform(_ effects: [Effect]) {
    for effect in effects {
      // Effects on a terminal do not apply here.
      if case .client(let effect) = effect { bridge?.perform(effect) }
    }
  }
}

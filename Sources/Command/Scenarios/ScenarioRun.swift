// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSimulation
import FirestoreSync
import HearthTesting

/// A run of a scenario in a simulated or real environment (`ScenarioWorld`). When the run ends, it also ends the
/// environment.
package struct ScenarioRun: Sendable {
  /// A completed step, and its output.
  package struct Done: Sendable {
    package var step: ScenarioStep
    /// The time since the start of the scenario.
    package var elapsed: Duration
    package var output: [String]
  }

  let scenario: Scenario
  let world: ScenarioWorld
  let report: @Sendable (Done) throws -> Void
  let note: @Sendable (String) -> Void

  var name: String { scenario.name }

  /// - Parameters:
  ///   - report: called with each completed step.
  ///   - note: called with information that is not visible in the exit status.
  package init(
    _ scenario: Scenario, in world: ScenarioWorld, report: @escaping @Sendable (Done) throws -> Void,
    note: @escaping @Sendable (String) -> Void
  ) {
    (self.scenario, self.world, self.report, self.note) = (scenario, world, report, note)
  }

  /// - Throws: `CommandFailure` about the first failed step, or about a rejected write that no step expected.
  package func run() async throws {
    defer { world.clients.end() }
    guard let loop = world.clients.simulation?.loop else { return try await perform() }
    try await Task(executorPreference: loop) { try await perform() }.value
  }

  private func perform() async throws {
    var state = ScenarioRunState(scenario, in: world)
    do {
      for (index, step) in scenario.steps.enumerated() {
        try await world.standingStill { try await $0.before(index) }
        let output = try await perform(step, on: &state)
        try report(Done(step: step, elapsed: state.elapsed(), output: output))
      }
      try await finish(state)
      await world.standingStill { await $0.ended(nil) }
    } catch {
      await world.standingStill { await $0.ended(error) }
      await state.close()
      throw error
    }
    await state.close()
  }

  private func perform(_ step: ScenarioStep, on state: inout ScenarioRunState) async throws -> [String] {
    switch step.action {
    case .world(let action): return try await perform(action, step, on: &state)
    case .client(let action):
      try await perform(action, by: try state.client(step.client), step, on: &state)
      return []
    }
  }

  private func perform(
    _ action: ScenarioStep.WorldAction, _ step: ScenarioStep, on state: inout ScenarioRunState
  ) async throws -> [String] {
    switch action {
    case .open(let opening): try state.open(step.client, user: opening.user, sharing: opening.owner)
    case .rules(let ruleset):
      do throws(RPCStatus) { try await world.put(ruleset) } catch { throw failure(step, error.message, .usage) }
    case .bundle(let bundle): state.bundles[bundle.name] = try await bytes(of: bundle, step)
    case .write(let mutations):
      for mutation in mutations { try check(mutation, step) }
      do throws(RPCStatus) { _ = try await world.clients.server.commit(mutations) } catch {
        throw failure(step, "\(error)")
      }
    case .caption(let text): return [text]
    case .pause(let time): try await world.clients.clock.sleep(for: time)
    case .snapshot(let listener):
      let named = state.clients.filter { step.client == nil || $0.name == step.client }
      return named.flatMap { $0.lines(of: listener, world.clients.database) }
    case .synchronize(let limit): try await wait(limit, step) { await world.clients.missing() == nil }
    case .expectSame(let limit): try await wait(limit, step) { try await world.clients.disagreement() == nil }
    }
    return []
  }

  private func perform(
    _ action: ScenarioStep.ClientAction, by client: ScenarioClient, _ step: ScenarioStep,
    on state: inout ScenarioRunState
  ) async throws {
    switch action {
    case .restart:
      await client.client.restart()
      try state.takeOpening(of: client)
    case .kill:
      if client.isCacheKept {
        throw failure(step, "kill needs a cache that the scenario created. Remove --cache.")
      }
      do throws(RPCStatus) { try await client.client.kill() } catch {
        throw CommandFailure(.inputOutput, error.message)
      }
      try state.takeOpening(of: client)
    case .cacheSize(let bytes):
      if client.isCacheKept {
        throw failure(step, "cache size needs a cache that the scenario created. Remove --cache.", .usage)
      }
      await client.client.restart(sizeLimit: bytes)
      try state.takeOpening(of: client)
    case .setting(let setting): try await apply(setting, to: client, step)
    case .load(let bundle):
      do throws(RPCStatus) { try await client.engine.loadBundle(state.bundles[bundle] ?? []) } catch {
        throw failure(step, error.message)
      }
    case .listen(let query, let name, let options): listen(to: query, name, options, by: client, step)
    case .listenNamed(let query, let name, let options):
      guard let found = try await client.engine.namedQuery(query) else {
        throw failure(step, "no loaded bundle has a query named \(query).")
      }
      listen(to: found, name, options, by: client, step)
    case .stop(let name): client.stop(name)
    case .request(let typed): try await perform(typed, by: client, step)
    case .beginBatch: client.beginBatch()
    case .commitBatch: if let batch = client.takeBatch(), !batch.isEmpty { try await write(batch, by: client, step) }
    case .changeUser(let user): await client.client.changeUser(to: user)
    case .expect(let pattern, let limit): try await expect(pattern, limit, of: client, step)
    case .expectNothing(let listener, let limit): try await expectNothing(on: listener, limit, of: client, step)
    case .expectState(let wanted, let limit):
      try await wait(limit, step) { try await client.holds(wanted, at: world.clients.server) }
    }
  }

  private func perform(_ typed: TypedRequest, by client: ScenarioClient, _ step: ScenarioStep) async throws {
    do throws(RPCStatus) {
      switch typed {
      case .request(.setNetwork(let isOn)): isOn ? await client.client.goOnline() : await client.client.goOffline()
      case .request(.evict(let scope, let age)): _ = try await client.engine.evict(scope, olderThan: age)
      case .request(.retryNow): await client.engine.retryNow()
      case .request(.setWriteAside(let batch)): try await client.engine.setWriteAside(batch)
      case .request(.resend(let batch, _)): _ = try await client.engine.resend(batch, as: nil).local
      case .drop(let batch):
        let isPending = await client.engine.statusNow()?.pendingWrites.contains { $0.id == batch } ?? false
        if isPending {
          try await client.engine.cancelWrite(batch)
        } else {
          try await client.engine.dropRejectedWrite(batch)
        }
      case .request, .fault: break
      }
    } catch { throw failure(step, "\(error)") }
    switch typed {
    case .request(.write(let mutations)):
      for mutation in mutations {
        try check(mutation, step)
        if !client.gather(mutation) { try await write([mutation], by: client, step) }
      }
    case .fault(let change):
      do { try client.client.faults.perform(change) } catch { throw failure(step, "\(error)") }
    case .request, .drop: break
    }
  }

  // MARK: Steps

  private func listen(
    to query: FirestoreQuery.Query, _ name: String?, _ options: ListenerOptions, by client: ScenarioClient,
    _ step: ScenarioStep
  ) {
    client.listen(
      query, name, options, failure: unexpected(step, "the listener failed, but no step expected a failure"))
  }

  private func check(_ mutation: Mutation, _ step: ScenarioStep) throws(CommandFailure) {
    do throws(ModelError) { try mutation.validateForWrite() } catch { throw failure(step, error.message) }
  }

  /// Returns when the write is in the cache and its snapshots are being delivered to the listeners.
  private func write(_ mutations: [Mutation], by client: ScenarioClient, _ step: ScenarioStep) async throws {
    do throws(RPCStatus) {
      try await client.write(
        mutations, failure: unexpected(step, "the write was rejected, but no step expected a rejection"))
    } catch { throw failure(step, "\(error)") }
  }

  private func unexpected(_ step: ScenarioStep, _ what: String) -> @Sendable (RPCStatus) -> String {
    let name = name
    return { "\(name), line \(step.line), \(step.text): \(what): \($0)" }
  }

  private func expect(
    _ pattern: EventPattern, _ limit: Duration, of client: ScenarioClient, _ step: ScenarioStep
  ) async throws {
    let outcome = try await before(limit) {
      while let event = await client.events.next() {
        if pattern.matches(event.observed) { return event }
        if let failure = event.failure { throw CommandFailure(Self.status(of: event), failure) }
      }
      return nil
    }
    if outcome == nil { throw failure(step, "it did not happen within \(limit).", .tryAgain) }
  }

  private func expectNothing(
    on listener: String?, _ limit: Duration, of client: ScenarioClient, _ step: ScenarioStep
  ) async throws {
    let surprise = try await before(limit) {
      while let event = await client.events.next() {
        if event.observed.isState { continue }
        if listener == nil || event.observed.listener == listener { return event }
      }
      return nil
    }
    guard let surprise else { return }
    if let text = surprise.failure { throw CommandFailure(Self.status(of: surprise), text) }
    throw failure(step, "\(surprise.observed) happened.")
  }

  static func status(of event: ScenarioClient.Event) -> ExitStatus {
    let observed = event.observed
    return observed.kind == .failed ? observed.code.map { ExitStatus($0) } ?? .failure : .failure
  }

  /// The result of a function if it is available before the timeout; otherwise `nil`.
  func before<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value?
  ) async throws -> Value? {
    try await Patience.result(within: limit, by: world.clients.clock, of: body)
  }

  /// Waits until a condition is true.
  private func wait(_ limit: Duration, _ step: ScenarioStep, _ holds: () async throws -> Bool) async throws {
    let isInTime: Bool
    do { isInTime = try await Patience.wait(limit, by: world.clients.clock, until: holds) } catch let status
      as RPCStatus
    {
      throw failure(step, "\(status)")
    }
    if !isInTime { throw failure(step, "it did not hold within \(limit).", .tryAgain) }
  }

  func failure(_ step: ScenarioStep, _ reason: String, _ status: ExitStatus = .failure) -> CommandFailure {
    CommandFailure(status, "\(name), line \(step.line), \(step.text): \(reason)")
  }
}

// Steps that change a client's settings, and bundles.

extension ScenarioRun {
  func apply(_ setting: ClientSetting, to client: ScenarioClient, _ step: ScenarioStep) async throws {
    do throws(RPCStatus) {
      switch setting {
      case .clock(let time): client.client.setClock(ahead: time)
      case .index(let index):
        let known = try await client.engine.indexes().filter { !$0.isAutomatic }.map(\.definition)
        try await client.engine.setIndexes(known.filter { $0 != index } + [index])
      case .automaticIndexes(let isOn): client.engine.setIndexAutoCreation(isOn)
      case .noIndexes: client.engine.deleteAllIndexes()
      }
    } catch { throw failure(step, error.message) }
  }

  /// Creates a bundle from the current data of the server.
  func bytes(of bundle: ScenarioBundle, _ step: ScenarioStep) async throws -> [UInt8] {
    do throws(RPCStatus) {
      let now = SnapshotVersion(world.clients.now)
      var writer = BundleWriter(world.clients.database)
      switch bundle.contents {
      case .result(let query):
        try writer.append(Bundle.NamedQuery(name: bundle.name, query: query, readTime: now))
        for document in try await world.clients.server.runQuery(query.target) {
          try writer.append(document, readTime: now, queries: [bundle.name])
        }
      case .documents(let documents, let queries):
        for (name, query) in queries {
          try writer.append(Bundle.NamedQuery(name: name, query: query, readTime: now))
        }
        for (key, fields) in documents {
          let state: Document.State = fields.map { .found(DocumentData($0)) } ?? .missing
          let document = Document(key: key, version: now, state: state)
          try writer.append(
            document, readTime: now, queries: queries.filter { $0.query.matches(document) }.map(\.name))
        }
      }
      return try writer.bytes(id: bundle.name, createTime: now)
    } catch { throw failure(step, error.message) }
  }
}

extension Value {
  /// The value with estimates for pending server timestamps; `nil` if the value has none.
  var withEstimates: Value? {
    switch self {
    case .serverTimestamp(let time): return .timestamp(time.localWriteTime)
    case .map(var fields):
      var isEstimated = false
      for entry in fields.entries {
        guard let estimated = entry.value.withEstimates else { continue }
        fields[entry.name] = estimated
        isEstimated = true
      }
      return isEstimated ? .map(fields) : nil
    // Arrays cannot contain server timestamps.
    default: return nil
    }
  }
}

// Checks after the last step.

extension ScenarioRun {
  /// Waits for the outcomes of all writes, so that no write is lost and no rejection is missed at the end.
  /// - Throws: if a write has no outcome or was not sent, or if a failure occurred that no step expected.
  func finish(_ state: ScenarioRunState) async throws {
    for client in state.clients where client.client.isOnline {
      let done = try await before(ScenarioStep.patience) {
        try await client.engine.waitForPendingWrites()
        return true
      }
      if done != nil { continue }
      let count = await tellQueue(of: client, "has no answer")
      throw CommandFailure(
        .tryAgain, "\(name): \(count.writes) not answered within \(ScenarioStep.patience)\(Self.kept(client)).")
    }
    for client in state.clients {
      for event in client.events.rest {
        if let failure = event.failure { throw CommandFailure(Self.status(of: event), failure) }
      }
    }
    for client in state.clients where !client.client.isOnline {
      let count = await tellQueue(of: client, "was not sent")
      if count > 0 { throw CommandFailure(.failure, "\(name): \(count.writes) not sent\(Self.kept(client)).") }
    }
  }

  private static func kept(_ client: ScenarioClient) -> String {
    client.isCacheKept ? "; the cache keeps its queue" : " and lost"
  }

  /// Reports the pending writes of a client.
  /// - Returns: the number of pending writes.
  private func tellQueue(of client: ScenarioClient, _ what: String) async -> Int {
    guard let status = await client.engine.statusNow() else { return 0 }
    for write in status.pendingWrites {
      let words = write.mutations.map { "\($0.operation.verb) \($0.key.path)" }.joined(separator: ", ")
      let reason = write.lastError.map { " (\($0))" } ?? ""
      let owner = client.name.map { " of \($0)" } ?? ""
      note("write #\(write.id.rawValue)\(owner), \(words), \(what)\(reason).")
    }
    return status.waitingWrites
  }
}

extension Int {
  /// A count with its verb: `1 write was`, `2 writes were`.
  fileprivate var writes: String { "\(self) write\(self == 1 ? " was" : "s were")" }
}

extension Mutation.Operation {
  /// The verb of the operation in the syntax of scenarios.
  fileprivate var verb: String {
    switch self {
    case .set: "set"
    case .patch: "update"
    case .delete: "delete"
    case .verify: "verify"
    }
  }
}

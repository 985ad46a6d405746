// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
import CommandOutput
import CommandTransfer
import DashboardModel
package import FirestoreBackend
import FirestoreClientState
package import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync

package import class Hearth.Client
package import class Hearth.Inspection

/// One run of a scenario against a client of its own.
package struct ScenarioRun: Sendable {
  let name: String
  let steps: [ScenarioStep]
  let clock: any Clock<Duration>
  let report: @Sendable (ScenarioStep) throws -> Void
  let note: @Sendable (String) -> Void

  /// - Parameters:
  ///   - report: called with every step that is done.
  ///   - note: called with a line about matters that the exit status does not tell.
  package init(
    name: String, steps: [ScenarioStep], clock: any Clock<Duration>,
    report: @escaping @Sendable (ScenarioStep) throws -> Void, note: @escaping @Sendable (String) -> Void
  ) {
    self.name = name
    self.steps = steps
    self.clock = clock
    self.report = report
    self.note = note
  }

  /// - Parameters:
  ///   - store: the place of the client's cache and queue.
  ///   - plan: the way in which the client can be watched.
  ///   - faults: the faults between the client and its backend, which are also the plan's.
  /// - Throws: `CommandFailure` that names the first failed step, or a rejected write whose rejection no step expected.
  package func run(
    at connection: BackendConnection, _ store: LocalStoreConfiguration, inspectedAs plan: Inspection.Plan? = nil,
    disturbedBy faults: FaultInjector = FaultInjector()
  ) async throws {
    let datastore = FaultyDatastore(connection.datastore, faults: faults, clock: clock)
    let client = Client(store, datastore: datastore, inspectedAs: plan)
    do {
      try CacheReader.check(client)
      try await perform(on: client, faults, isDurable: store.location != .memory)
      await client.terminate()
    } catch {
      await client.terminate()
      throw error
    }
  }

  private func perform(on client: Client, _ faults: FaultInjector, isDurable: Bool) async throws {
    let events = ScenarioEvents()
    var isOnline = true
    var own: Set<BatchID> = []
    try await withThrowingTaskGroup(of: Void.self) { group in
      // The listeners' tasks end with the group.
      defer { group.cancelAll() }
      for step in steps {
        switch step.action {
        case .listen(let query):
          let mailbox = SnapshotMailbox()
          _ = client.engine.listen(
            to: query, options: ListenerOptions(includeMetadataChanges: true), into: mailbox)
          group.addTask { await pass(mailbox, on: events, step) }
        case .goOffline:
          await client.engine.disableNetwork()
          isOnline = false
        case .goOnline:
          await client.engine.enableNetwork()
          isOnline = true
        case .fault(let change): try faults.perform(change)
        case .write(let mutation): own.insert(try await write(mutation, client, events, step))
        case .expect(let pattern, let limit): try await expect(pattern, limit, events, step)
        case .expectNothing(let limit): try await expectNothing(limit, events, step)
        }
        try report(step)
      }
      if isOnline { try await answers(of: client, isDurable: isDurable) }
      try await refuseSurprises(client, events, own)
      if !isOnline { try await refuseQueue(of: client, isDurable: isDurable) }
    }
  }

  // MARK: The end

  /// Waits for the answers to all writes, so that the end of the scenario loses no write and misses no rejection.
  private func answers(of client: Client, isDurable: Bool) async throws {
    let done = try await before(ScenarioStep.patience) {
      try await client.engine.waitForPendingWrites()
      return ScenarioEvent(kind: .acknowledged)
    }
    if done != nil { return }
    let count = await tellQueue(of: client, "has no answer")
    throw CommandFailure(
      .tryAgain,
      "\(name): \(count.writes) not answered within \(ScenarioStep.patience)"
        + (isDurable ? "; the cache keeps what is in its queue." : "."))
  }

  /// - Throws: for writes that are still in the queue when a scenario ends offline.
  private func refuseQueue(of client: Client, isDurable: Bool) async throws {
    let count = await tellQueue(of: client, "was not sent")
    if count == 0 { return }
    throw CommandFailure(
      .failure,
      "\(name): \(count.writes) not sent" + (isDurable ? "; the cache keeps what is in its queue." : " and lost."))
  }

  /// - Throws: for a rejected write that no step expected, also one that an earlier run had left in the queue.
  private func refuseSurprises(_ client: Client, _ events: ScenarioEvents, _ own: Set<BatchID>) async throws {
    for event in events.rest { if let failure = event.failure { throw failure } }
    for await status in client.engine.status() {
      for outcome in status.recentOutcomes where !own.contains(outcome.batch) {
        guard let rejection = outcome.rejection else { continue }
        throw CommandFailure(
          .failure,
          "\(name): write #\(outcome.batch.rawValue), which was in the queue before, was rejected: \(rejection)")
      }
      return
    }
  }

  /// Reports each write that waits.
  /// - Returns: the number of waiting writes.
  private func tellQueue(of client: Client, _ what: String) async -> Int {
    for await status in client.engine.status() {
      for write in status.pendingWrites {
        let words = write.mutations.map { "\($0.operation.verb) \($0.key.path)" }.joined(separator: ", ")
        let reason = write.lastError.map { " (\($0))" } ?? ""
        note("write #\(write.id.rawValue), \(words), \(what)\(reason).")
      }
      return max(status.pendingWrites.count, status.queue.count)
    }
    return 0
  }

  // MARK: Steps

  /// Turns a listener's snapshots into events until the client ends.
  private func pass(_ mailbox: SnapshotMailbox, on events: ScenarioEvents, _ step: ScenarioStep) async {
    while let element = await mailbox.next() {
      switch element {
      case .failed(let status): events.fail(failure(step, "\(status)", ExitStatus(status.code)))
      case .snapshot(let snapshot):
        for change in snapshot.changes {
          guard let kind = ScenarioEvent.Kind(rawValue: WatchedChange.Kind(change.kind).rawValue) else { continue }
          events.put(ScenarioEvent(kind: kind, path: change.document.key.path))
        }
        if !snapshot.isFromCache { events.put(ScenarioEvent(kind: .synced)) }
      }
    }
  }

  /// Returns when the write is in the cache and its snapshots are on their way to the listeners.
  private func write(
    _ mutation: Mutation, _ client: Client, _ events: ScenarioEvents, _ step: ScenarioStep
  ) async throws(CommandFailure) -> BatchID {
    do throws(ModelError) { try mutation.validateForWrite() } catch { throw failure(step, error.message) }
    // A completion awaited afterwards might be reported behind the snapshot that shows it.
    let handle = client.engine.write([mutation]) { result in
      switch result {
      case .success: events.put(ScenarioEvent(kind: .acknowledged, path: mutation.key.path))
      case .failure(let status):
        let surprise = failure(step, "the write was rejected, and no step expected that: \(status)")
        events.put(ScenarioEvent(kind: .rejected, path: mutation.key.path, failure: surprise))
      }
    }
    do throws(RPCStatus) { return try await handle.local } catch { throw failure(step, "\(error)") }
  }

  private func expect(
    _ pattern: ScenarioEvent.Pattern, _ limit: Duration, _ events: ScenarioEvents, _ step: ScenarioStep
  ) async throws {
    let outcome = try await before(limit) {
      while let event = try await events.next() {
        if pattern.matches(event) { return event }
        if let failure = event.failure { throw failure }
      }
      return nil
    }
    if outcome == nil { throw failure(step, "it did not happen within \(limit).", .tryAgain) }
  }

  private func expectNothing(_ limit: Duration, _ events: ScenarioEvents, _ step: ScenarioStep) async throws {
    let surprise = try await before(limit) {
      while let event = try await events.next() {
        if event.kind != .synced { return event }
      }
      return nil
    }
    if let surprise { throw surprise.failure ?? failure(step, "\(surprise) happened.") }
  }

  /// The result of the body if it comes before the time is over; else `nil`.
  private func before(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> ScenarioEvent?
  ) async throws -> ScenarioEvent? {
    let clock = clock
    return try await withThrowingTaskGroup(of: ScenarioEvent?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        // The sleep is cancelled when the event arrives.
        try? await clock.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }

  private func failure(_ step: ScenarioStep, _ reason: String, _ status: ExitStatus = .failure) -> CommandFailure {
    CommandFailure(status, "\(name), line \(step.line), \(step.text): \(reason)")
  }
}

extension Int {
  /// `1 write was`, `2 writes were`
  fileprivate var writes: String { "\(self) write\(self == 1 ? " was" : "s were")" }
}

extension Mutation.Operation {
  /// The operation's verb in a scenario.
  fileprivate var verb: String {
    switch self {
    case .set: "set"
    case .patch: "update"
    case .delete: "delete"
    case .verify: "verify"
    }
  }
}

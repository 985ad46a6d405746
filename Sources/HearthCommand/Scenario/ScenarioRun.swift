// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreRemote
import FirestoreSync

import class Hearth.Client

/// One run of a scenario against a client of its own.
struct ScenarioRun: Sendable {
  let name: String
  let steps: [ScenarioStep]
  let clock: any Clock<Duration>
  /// Told of every step that is done.
  let report: @Sendable (ScenarioStep) throws -> Void

  /// - Throws: `CommandFailure` that names the first step that fails.
  func run(at connection: Connection) async throws {
    let store = LocalStoreConfiguration(location: .memory, policy: .never, database: connection.database)
    let client = Client(SyncConfiguration(store: store), datastore: connection.datastore)
    do {
      try await perform(on: client)
      await client.terminate()
    } catch {
      await client.terminate()
      throw error
    }
  }

  private func perform(on client: Client) async throws {
    let events = ScenarioEvents()
    try await withThrowingTaskGroup(of: Void.self) { group in
      // The listeners' tasks end with the group.
      defer { group.cancelAll() }
      for step in steps {
        switch step.action {
        case .listen(let query):
          var options = ListenerOptions()
          options.includeMetadataChanges = true
          let mailbox = SnapshotMailbox()
          _ = client.engine.listen(to: query, options: options, into: mailbox)
          group.addTask { await pass(mailbox, on: events, step) }
        case .goOffline: await client.engine.disableNetwork()
        case .goOnline: await client.engine.enableNetwork()
        case .write(let mutation): try await write(mutation, client, events, step)
        case .expect(let pattern, let limit): try await expect(pattern, limit, events, step)
        case .expectNothing(let limit): try await expectNothing(limit, events, step)
        }
        try report(step)
      }
    }
  }

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

  /// Returns when the write is in the cache and on its way to the listeners.
  private func write(
    _ mutation: Mutation, _ client: Client, _ events: ScenarioEvents, _ step: ScenarioStep
  ) async throws(CommandFailure) {
    do throws(ModelError) { try mutation.validateForWrite() } catch { throw failure(step, error.message) }
    let handle = client.engine.write([mutation])
    handle.whenAnswered { result in
      switch result {
      case .success: events.put(ScenarioEvent(kind: .acknowledged, path: mutation.key.path))
      case .failure: events.put(ScenarioEvent(kind: .rejected, path: mutation.key.path))
      }
    }
    do throws(RPCStatus) { _ = try await handle.local } catch { throw failure(step, "\(error)") }
  }

  private func expect(
    _ pattern: ScenarioEvent.Pattern, _ limit: Duration, _ events: ScenarioEvents, _ step: ScenarioStep
  ) async throws {
    let outcome = try await before(limit) {
      while let event = try await events.next() {
        if pattern.matches(event) { return event }
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
    if let surprise { throw failure(step, "\(surprise) happened.") }
  }

  /// What the body returns before the time is over, or else `nil`.
  private func before(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> ScenarioEvent?
  ) async throws -> ScenarioEvent? {
    let clock = clock
    return try await withThrowingTaskGroup(of: ScenarioEvent?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        // Cancelled when the event comes.
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

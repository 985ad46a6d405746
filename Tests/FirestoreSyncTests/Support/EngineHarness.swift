// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting

/// An engine that runs for the length of a test, against a backend that the test plays and a clock that it moves.
struct EngineHarness: Sendable {
  let engine: SyncEngine
  let backend: ScriptedDatastore
  let clock: ManualClock

  static func run(_ body: @Sendable (EngineHarness) async throws -> Void) async throws {
    let (backend, clock) = (ScriptedDatastore(), ManualClock())
    let store = LocalStoreConfiguration(location: .memory, policy: .never, database: database)
    let engine = SyncEngine(
      SyncConfiguration(store: store), datastore: backend, clock: clock,
      now: { Timestamp(seconds: clock.now.offset.components.seconds) }, random: CountingGenerator())
    try await withThrowingTaskGroup { group in
      group.addTask { await engine.run() }
      try await body(EngineHarness(engine: engine, backend: backend, clock: clock))
      await engine.terminate()
      try await group.waitForAll()
    }
  }

  func listen(_ path: String, _ options: ListenerOptions = .metadata) -> (id: ListenerID, mailbox: SnapshotMailbox) {
    let mailbox = SnapshotMailbox()
    return (engine.listen(to: query(path), options: options, into: mailbox), mailbox)
  }

  /// The watch stream that the client opens next, with its first target.
  func nextWatch() async throws -> (ScriptedDatastore.Connection<WatchRequest, WatchEvent>, TargetID) {
    guard let watch = await backend.watches.next(), case .add(let target)? = await watch.request() else {
      throw RPCStatus(.internal, "the client did not open a watch stream for a target")
    }
    return (watch, target.id)
  }
}

extension ScriptedDatastore.Connection<WatchRequest, WatchEvent> {
  /// Plays a whole result.
  func sync(_ target: TargetID, _ documents: [Document], at version: Int64) async {
    await send(.changes([.added([target])]))
    await update(target, documents, at: version)
  }

  func update(_ target: TargetID, _ documents: [Document], at version: Int64) async {
    for document in documents { await send(.changes([.document(document, updated: [target], removed: [])])) }
    await send(.changes([.current([target], token("t\(version)"))]))
    await send(.changes([.snapshot(at(version), nil)]))
  }
}

extension SnapshotMailbox {
  func snapshot() async throws -> ViewSnapshot {
    switch await next() {
    case .snapshot(let snapshot): return snapshot
    case .failed(let status): throw status
    case nil: throw RPCStatus(.cancelled, "the mailbox is finished")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Testing

@Suite("Faults between an engine and a backend", .timeLimit(.minutes(10))) struct FaultTests {
  private let backend: LocalBackend
  /// Held by the test; every other wait of an engine that is shorter than ten seconds passes.
  private let flapping = ManualClock()
  private let clock = ManualClock(patience: .seconds(10))
  private let faults: FaultInjector

  init() throws {
    let time = TestClock(tick: 1)
    backend = try LocalBackend(BackendConfiguration(location: .memory, now: time.now))
    faults = FaultInjector(seed: 3, clock: flapping)
  }

  private func run(_ body: (SyncEngine) async throws -> Void) async throws {
    let datastore = FaultyDatastore(
      InProcessDatastore(backend: backend, database: database), faults: faults, clock: clock)
    let time = TestClock(tick: 1)
    let engine = SyncEngine(
      SyncConfiguration(store: LocalStoreConfiguration(location: .memory, policy: .never, database: database)),
      datastore: datastore, clock: clock, now: time.now, random: CountingGenerator())
    async let running: Void = engine.run()
    do { try await body(engine) } catch {
      await engine.terminate()
      throw error
    }
    await engine.terminate()
    await running
  }

  private func listen(_ engine: SyncEngine, _ path: String = "rooms") -> SnapshotMailbox {
    let mailbox = SnapshotMailbox()
    _ = engine.listen(to: query(path), options: .metadata, into: mailbox)
    return mailbox
  }

  private let increment = Mutation(
    key: key("rooms/a"), operation: .patch([:], FieldMask([])),
    transforms: [FieldTransform(path: FieldPath("n"), operation: .increment(1))])

  private func stored() async throws -> [String: Value?] {
    let documents = try await InProcessDatastore(backend: backend, database: database).runQuery(query("rooms").target)
    return Dictionary(uniqueKeysWithValues: documents.map { ($0.key.path.text, $0[FieldPath("n")]) })
  }

  /// Reads snapshots until one is the backend's whole result, in sync.
  private func agrees(_ mailbox: SnapshotMailbox) async throws {
    let wanted = try await stored()
    while true {
      let snapshot = try await mailbox.snapshot()
      let shown = Dictionary(
        uniqueKeysWithValues: snapshot.documents.documents.map { ($0.key.path.text, $0[FieldPath("n")]) })
      if !snapshot.isFromCache, !snapshot.hasPendingWrites, shown == wanted { return }
    }
  }

  @Test(
    "After faults end, each increment is applied once and the listener is in sync",
    arguments: [
      [FaultChange.latency(.milliseconds(200), jitter: .milliseconds(100), on: nil)],
      [.bandwidth(2000, on: .watch)], [.slowReader(1000)], [.loss(100, before: true)], [.loss(60, before: false)],
      [.event(.write(.dropAcknowledgement))], [.event(.write(.dropRequest))], [.event(.write(.reject(.unavailable)))],
      [.event(.write(.reject(.aborted))), .event(.read(.unavailable))], [.event(.listen(.permissionDenied))],
      [.down(nil)], [.down(.watch)], [.down(.write)], [.silent], [.flap(.seconds(5))],
      [.event(.restart(withoutTokens: false))], [.event(.restart(withoutTokens: true))],
    ])
  func calm(changes: [FaultChange]) async throws {
    try await run { engine in
      let mailbox = listen(engine)
      _ = try await engine.write([set("rooms/a", ["n": 0])]).acknowledged
      try await agrees(mailbox)

      for change in changes { try faults.perform(change) }
      for _ in 0..<5 { _ = try await engine.write([increment]).local }
      try await backend.commit([set("rooms/b", ["n": 7])], in: database)
      // Some faults let a part of the work through; the rest has to wait.
      try faults.perform(.calm)

      #expect(faults.settings.isCalm)
      await engine.retryNow()
      try await engine.waitForPendingWrites()
      #expect(try await stored() == ["rooms/a": 5, "rooms/b": 7])
      try await agrees(mailbox)
    }
  }

  @Test("A rejected listener fails with its code, and other listeners continue")
  func refusedListener() async throws {
    try await run { engine in
      let first = listen(engine)
      try await agrees(first)
      try faults.perform(.event(.listen(.permissionDenied)))
      let refused = listen(engine, "secrets")
      await #expect { while true { _ = try await refused.snapshot() } } throws: {
        ($0 as? RPCStatus)?.code == .permissionDenied
      }
      try await backend.commit([set("rooms/b", ["n": 7])], in: database)
      try await agrees(first)
      let again = listen(engine, "secrets")
      while try await again.snapshot().isFromCache {}
    }
  }

  @Test("Listeners work while writing is down, and writing works while listening is down")
  func lanes() async throws {
    try await run { engine in
      let mailbox = listen(engine)
      try await agrees(mailbox)
      try faults.perform(.down(.write))
      let held = engine.write([set("rooms/a", ["n": 1])])
      _ = try await held.local
      try await backend.commit([set("rooms/b", ["n": 7])], in: database)
      while try await mailbox.snapshot().documents.count < 2 {}
      #expect(try await stored() == ["rooms/b": 7])

      try faults.perform(.up)
      await engine.retryNow()
      _ = try await held.acknowledged
      try faults.perform(.down(.watch))
      _ = try await engine.write([set("rooms/c", ["n": 2])]).acknowledged
      #expect(try await stored().count == 3)
      try faults.perform(.up)
      await engine.retryNow()
      try await agrees(mailbox)
    }
  }

  @Test("A flapping network goes down immediately and then changes at each interval")
  func flap() async throws {
    try await run { engine in
      let mailbox = listen(engine)
      try await agrees(mailbox)
      try faults.perform(.flap(.seconds(5)))
      let datastore = FaultyDatastore(
        InProcessDatastore(backend: backend, database: database), faults: faults, clock: clock)
      for isUp in [false, true, false, true] {
        await flapping.waitForSleeper(.seconds(5))
        if isUp {
          #expect(try await datastore.runQuery(query("rooms").target).isEmpty)
        } else {
          await #expect(throws: RPCStatus.self) { try await datastore.runQuery(query("rooms").target) }
        }
        flapping.advance(by: .seconds(5))
      }
      try faults.perform(.calm)
      #expect(try await datastore.runQuery(query("rooms").target).isEmpty)
    }
  }
}

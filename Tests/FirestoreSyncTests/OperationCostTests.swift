// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DatastoreTapping
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreSimulation
import FirestoreSync
import FirestoreTesting
import SerialExecutors
import Testing

/// The messages, bytes and hops of the most frequent operations. Client and backend are on one virtual loop, so that the
/// counts are the same each time and on every machine; a change of them is a change of what each operation costs.
@Suite("Operation cost", .timeLimit(.minutes(15)))
struct OperationCostTests {
  private struct Cost: Equatable {
    /// The messages of the streams.
    var sent = 0, received = 0
    /// Their sizes in bytes, as they are over gRPC.
    var bytesSent = 0, bytesReceived = 0
    /// The jobs of the engine with its streams, of the backend, and of the listener's reader.
    var engine = 0, backend = 0, reader = 0
  }

  @Test("Listening to three documents sends 1 message and receives 6")
  func listen() async throws {
    try await run { world in
      let cost = try await world.cost { world.listen("rooms") }
      #expect(
        cost
          == Cost(sent: 1, received: 6, bytesSent: 107, bytesReceived: 291, engine: 11, backend: 2, reader: 2))
    }
  }

  @Test("A write with a listener sends 1 message and receives 3")
  func write() async throws {
    try await run { world in
      world.listen("rooms")
      _ = try await world.cost { world.write(1) }
      let cost = try await world.cost { world.write(2) }
      #expect(
        cost
          == Cost(sent: 1, received: 3, bytesSent: 156, bytesReceived: 125, engine: 18, backend: 2, reader: 2))
    }
  }

  @Test("An offline write with a listener runs one engine job and one reader job")
  func offlineWrite() async throws {
    try await run { world in
      world.listen("rooms")
      try await world.settle()
      await world.engine.disableNetwork()
      _ = try await world.cost { world.write(1) }
      let cost = try await world.cost { world.write(2) }
      #expect(cost == Cost(engine: 1, reader: 1))
    }
  }

  @Test("A remote change is received by its listener in 2 messages")
  func change() async throws {
    try await run { world in
      world.listen("rooms")
      _ = try await world.cost { try await world.change(1) }
      let cost = try await world.cost { try await world.change(2) }
      #expect(
        cost
          == Cost(received: 2, bytesReceived: 101, engine: 4, backend: 2, reader: 1))
    }
  }

  // MARK: The world

  /// Plays with a client whose streams are open, and a backend of three documents.
  private func run(_ body: @escaping @Sendable (World) async throws -> Void) async throws {
    let loop = VirtualLoop()
    defer { loop.end() }
    let world = try World(loop)
    let running = Task(executorPreference: world.engineLoop) { await world.engine.run() }
    try await Task(executorPreference: loop) {
      for number in 0..<3 { try await world.change(number, of: "rooms/\(number)") }
      world.listen("other")
      _ = world.engine.write([set("other/0")])
      try await world.settle()
      try await body(world)
      await world.engine.terminate()
    }.value
    await running.value
  }

  private final class World: Sendable {
    let engineLoop: CountedLoop
    let engine: SyncEngine
    private let backendLoop: CountedLoop
    private let readerLoop: CountedLoop
    private let backend: LocalBackend
    private let tap: MessageTap
    private let loop: VirtualLoop

    init(_ loop: VirtualLoop) throws {
      let time = Timestamp(seconds: 1_800_000_000)
      self.loop = loop
      (engineLoop, backendLoop, readerLoop) = (CountedLoop(loop), CountedLoop(loop), CountedLoop(loop))
      backend = try LocalBackend(
        BackendConfiguration(location: .memory, now: { time }), on: QueueExecutor(label: "backend", on: backendLoop))
      tap = MessageTap(now: { time })
      let datastore = TappedDatastore(
        InProcessDatastore(backend: backend, database: database), of: database, tap: tap)
      let store = LocalStoreConfiguration(location: .memory, policy: .never, database: database)
      engine = SyncEngine(
        SyncConfiguration(store: store), datastore: datastore, clock: loop.clock, now: { time },
        random: CountingGenerator(), on: engineLoop)
    }

    /// Listens, with a reader that takes each snapshot.
    func listen(_ path: String) {
      let mailbox = SnapshotMailbox()
      _ = engine.listen(to: query(path), options: .metadata, into: mailbox)
      Task(executorPreference: readerLoop) { while await mailbox.next() != nil {} }
    }

    func write(_ number: Int) { _ = engine.write([patch("rooms/0", ["n": .integer(Int64(number))])]) }

    func change(_ number: Int, of path: String = "rooms/1") async throws {
      _ = try await backend.commit([set(path, ["n": .integer(Int64(number))])], in: database)
    }

    /// Waits until nothing is left to do: only then does time pass.
    func settle() async throws { try await loop.clock.sleep(for: .milliseconds(1)) }

    /// The cost of an operation with all that follows from it.
    func cost(_ operation: () async throws -> Void) async throws -> Cost {
      try await settle()
      _ = tap.take()
      let before = (engineLoop.count, backendLoop.count, readerLoop.count)
      try await operation()
      try await settle()
      var cost = Cost(
        engine: engineLoop.count - before.0, backend: backendLoop.count - before.1,
        reader: readerLoop.count - before.2)
      for message in tap.take() {
        switch message.kind {
        case .request:
          cost.sent += 1
          cost.bytesSent += message.bytes ?? 0
        case .response:
          cost.received += 1
          cost.bytesReceived += message.bytes ?? 0
        default: Issue.record("A stream begins or ends: \(message.kind)")
        }
      }
      return cost
    }
  }
}

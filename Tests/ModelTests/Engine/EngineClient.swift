// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import SeededRandom

/// One engine with the network that it is behind, and the books that tell what it may say.
actor EngineClient {
  struct Write {
    let user: String?
    let batch: BatchID
    /// `nil` if it cannot be told what its increments saw.
    let model: ModelBatch?
    let keys: Set<DocumentKey>
    var isAnswered = false
    var isCancelled = false
  }

  let index: Int
  let server: ObservedBackend
  private let backend: LocalBackend
  private let setup: ModelClient.Setup
  private let seed: UInt64
  let time: TestClock
  let clock = ManualClock(patience: EngineClient.patience)
  let faults: FaultInjector
  private let folder: TemporaryFolder?
  private var starts = 0

  // Of the engine that runs now.
  private(set) var engine: SyncEngine
  private var running: Task<Void, Never>
  private(set) var book = CommitBook()
  var events = EngineEvents()
  private(set) var user: String?
  private(set) var isNetworkEnabled = true
  var isTerminated = false
  /// With how often the user had changed when they began.
  var waits: [(userChanges: Int, task: Task<RPCStatus?, Never>)] = []
  var userChanges = 0
  /// Then a write may be refused although its lost answer was another.
  var hasInjectedRejection = false

  // The books.
  private var writeCount = 0
  var writes: [Int: Write] = [:]
  var writeOrder: [Int] = []
  /// Stored by an engine before this one, whose end nobody is told.
  var carried: Set<BatchID> = []
  var answers = 0
  var listeners: [ListenerID: (book: ListenerBook, mailbox: SnapshotMailbox)] = [:]
  var listenerOrder: [ListenerID] = []
  /// Listens to the document that tells how far the engine has followed.
  var beacon = LatestSnapshot()
  var beaconMailbox = SnapshotMailbox()
  var beaconID = ListenerID(0)

  /// A backoff's waits are shorter, but for its longest ones; idle and clean-up timers end when the run says so.
  static let patience = Duration.seconds(10)
  /// The longest backoff is shorter, 60 s and half of them: at rest it is not waited for, however long it has become.
  static let patienceAtRest = Duration.seconds(100)

  static let beaconKey = DocumentKey(unchecked: ResourcePath("beacons/b"))

  init(
    _ index: Int, _ setup: ModelClient.Setup, _ server: ObservedBackend, _ backend: LocalBackend, _ time: TestClock,
    seed: UInt64
  ) {
    (self.index, self.setup, self.server, self.backend) = (index, setup, server, backend)
    (self.seed, self.time) = (seed, time)
    faults = FaultInjector(seed: seed)
    folder = setup.isDurable ? TemporaryFolder() : nil
    starts = 1
    engine = Self.engine(setup, folder, user: nil, server, backend, book, faults, clock, time, seed: seed)
    running = Task { [engine] in await engine.run() }
  }

  private static func engine(
    _ setup: ModelClient.Setup, _ folder: TemporaryFolder?, user: String?, _ server: ObservedBackend,
    _ backend: LocalBackend, _ book: CommitBook, _ faults: FaultInjector, _ clock: ManualClock, _ time: TestClock,
    seed: UInt64
  ) -> SyncEngine {
    let store = LocalStoreConfiguration(
      location: folder.map { .directory($0.path) } ?? .memory, policy: setup.policy, database: server.database)
    let datastore = ObservedDatastore(backend: backend, server: server, book: book)
    return SyncEngine(
      SyncConfiguration(store: store, user: user),
      datastore: FaultyDatastore(datastore, faults: faults, clock: clock), clock: clock, now: time.now,
      random: SeededGenerator(seed: seed))
  }

  /// Ends the engine and, if it has files, begins another on them.
  func restart() async throws {
    try await end()
    starts += 1
    if folder == nil {
      book = CommitBook()
      carried = []
    } else {
      carried.formUnion(writes.values.lazy.filter { !$0.isAnswered }.map(\.batch))
    }
    (writes, writeOrder, answers, isNetworkEnabled, isTerminated) = ([:], [], 0, true, false)
    (events, listeners, listenerOrder) = (EngineEvents(), [:], [])
    engine = Self.engine(
      setup, folder, user: user, server, backend, book, faults, clock, time, seed: seed &+ UInt64(starts))
    running = Task { [engine] in await engine.run() }
  }

  /// Nobody waits for an engine that has ended.
  func end() async throws {
    isTerminated = true
    await engine.terminate()
    await running.value
    for (_, wait) in waits {
      let status = await wait.value
      try require(
        [nil, .cancelled, .failedPrecondition].contains(status?.code), "a wait ended with \(status.debugDescription)")
    }
    waits = []
    for (_, mailbox) in listeners.values { await mailbox.settle() }
    try audit()
  }

  // MARK: The user

  func write(_ mutations: [Mutation]) async throws {
    writeCount += 1
    let number = writeCount
    let events = events
    let model = try await model(of: mutations)
    let handle = engine.write(mutations) { events.note(.answered(number, $0)) }
    let batch = try await handle.local
    writes[number] = Write(user: user, batch: batch, model: model, keys: Set(mutations.map(\.key)))
    writeOrder.append(number)
  }

  /// What an increment sees while the network is on may change before the write is made.
  private func model(of mutations: [Mutation]) async throws -> ModelBatch? {
    let batch = ModelBatch(mutations, at: time.now()) { _ in LocalModel(nil) }
    if batch.seen.isEmpty { return batch }
    if isNetworkEnabled { return nil }
    var views: [DocumentKey: LocalModel] = [:]
    for key in Set(mutations.map(\.key)) { views[key] = LocalModel(try await engine.layers(of: key).local) }
    return ModelBatch(mutations, at: time.now()) { views[$0] ?? LocalModel(nil) }
  }

  func cancelWrite(at position: Int) async throws {
    let waiting = writeOrder.filter { writes[$0]?.isAnswered == false }
    guard !waiting.isEmpty, let write = writes[waiting[position % waiting.count]] else { return }
    let number = waiting[position % waiting.count]
    do throws(RPCStatus) {
      try await engine.cancelWrite(write.batch)
      writes[number]?.isCancelled = true
    } catch {
      try require([.notFound, .failedPrecondition].contains(error.code), "cancelling said \(error)")
    }
  }

  func waitForPendingWrites() {
    waits.append(
      (
        userChanges,
        Task { [engine] in
          do throws(RPCStatus) { try await engine.waitForPendingWrites() } catch { return error }
          return nil
        }
      ))
  }

  func listen(to query: Query, _ options: ListenerOptions) {
    let mailbox = SnapshotMailbox(capacity: 1 + listenerOrder.count % 3)
    let id = engine.listen(to: query, options: options, into: mailbox)
    listeners[id] = (ListenerBook(query: query, options: options, mayMerge: true), mailbox)
    listenerOrder.append(id)
    read(mailbox) { [events] in
      events.note(.snapshot(id, $0))
    } failed: { [events] in
      events.note(.failed(id, $0))
    }
  }

  func read(
    _ mailbox: SnapshotMailbox, _ note: @escaping @Sendable (ViewSnapshot) -> Void,
    failed: @escaping @Sendable (RPCStatus) -> Void
  ) {
    // Ends with its mailbox, which the engine finishes.
    Task.immediate {
      while let element = await mailbox.next() {
        switch element {
        case .snapshot(let snapshot): note(snapshot)
        case .failed(let status): failed(status)
        }
      }
    }
  }

  func stopListening(at position: Int) async throws {
    guard !listenerOrder.isEmpty else { return }
    let id = listenerOrder.remove(at: position % listenerOrder.count)
    // What it was told until now is looked at once more.
    await listeners[id]?.mailbox.settle()
    try audit()
    engine.stopListening(id)
    listeners[id] = nil
  }

  func enableNetwork() async {
    await engine.enableNetwork()
    isNetworkEnabled = true
  }

  func disableNetwork() async {
    await engine.disableNetwork()
    isNetworkEnabled = false
  }

  func changeUser(to user: String?) async {
    await engine.changeUser(to: user)
    if user != self.user { userChanges += 1 }
    self.user = user
  }

  func rejectNextWrite(_ code: StatusCode) {
    hasInjectedRejection = true
    faults.inject(.reject(code))
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Foundation
import Testing

@testable import FirestoreSync

/// Clients of one cache in one process, beside what the spec tests say of several.
@Suite("Shared cache clients", .timeLimit(.minutes(10)))
struct SharedCacheTests {
  private let folder = TemporaryFolder()

  private var configuration: LocalStoreConfiguration {
    LocalStoreConfiguration(
      location: .directory(folder.path), policy: .leastRecentlyUsed(thresholdBytes: 0), database: database,
      isShared: true)
  }

  private func core() throws -> SyncCore {
    var core = SyncCore(
      try LocalStore(configuration), configuration: SyncCore.Configuration(database: database),
      random: CountingGenerator())
    try core.start(user: nil)
    core.refreshLease(at: Timestamp(seconds: 1))
    return core
  }

  @Test("Another client does not evict a cache listener's documents")
  func listenerToTheCache() throws {
    var primary = try core()
    var other = try core()
    let roles = (primary.isPrimary, other.isPrimary)
    #expect(roles == (true, false))
    let room = doc("rooms/a", at: 1)
    _ = try primary.store.apply(RemoteEvent(version: at(1), documents: [room.key: room]))
    var options = ListenerOptions()
    options.source = .cache

    other.listen(ListenerID(1), to: query("rooms"), options: options)
    other.listen(ListenerID(2), to: query("rooms"), options: ListenerOptions())
    other.stopListening(ListenerID(2))
    let during = try collect(&primary.store)
    other.stopListening(ListenerID(1))
    let after = try collect(&primary.store)

    #expect(during == 0 && after == 1)
  }

  @Test("Pins survive the client that set them, and every client sees them")
  func pinned() throws {
    var primary = try core()
    let documents = ["a", "b"].map { doc("rooms/\($0)", at: 1, ["name": .string($0)]) }
    _ = try primary.store.apply(
      RemoteEvent(version: at(1), documents: Dictionary(uniqueKeysWithValues: documents.map { ($0.key, $0) })))
    var first = query("rooms")
    first.filters = [.field(FieldFilter(FieldPath("name"), .equal, .string("a")))]
    let pin = Retention(first.target, .pinned, since: Timestamp(seconds: 1))

    #expect(try primary.store.retentions().isEmpty)
    do {
      var other = try core()
      try other.store.set(pin)
      let wasTold = primary.hear()
      #expect(try wasTold && primary.store.retentions() == [pin])
    }
    let removed = try collect(&primary.store)
    #expect(removed == 1)
    #expect(try primary.store.remoteDocument(key("rooms/a")) != nil)
  }

  @Test("A document that another user's write moves into a limit is not evicted")
  func otherUsersLimit() throws {
    var primary = try core()
    var other = try core()
    other.changeUser(to: "other")
    let documents = ["a", "b", "c"].map { doc("rooms/\($0)", at: 1) }
    _ = try primary.store.apply(
      RemoteEvent(version: at(1), documents: Dictionary(uniqueKeysWithValues: documents.map { ($0.key, $0) })))
    let listener = ListenerID(1)
    var first = query("rooms")
    first.limit = 1
    other.listen(listener, to: first, options: ListenerOptions())
    _ = try other.write([delete("rooms/a")], at: Timestamp(seconds: 2))

    let during = try collect(&primary.store)
    other.stopListening(listener)
    let after = try collect(&primary.store)

    #expect(during == 0 && after == 2)
  }

  @Test("The sending client cancels a write at another client's request")
  func cancelElsewhere() throws {
    var primary = try core()
    var other = try core()
    let (first, second) = (
      try other.write([set("rooms/a")], at: Timestamp(seconds: 2)),
      try other.write([set("rooms/b")], at: Timestamp(seconds: 2))
    )
    primary.hear()
    primary.writeStreamOpened(token: [1], in: primary.writeStream.epoch)
    #expect(primary.takeWrite(in: primary.writeStream.epoch, at: Timestamp(seconds: 3))?.id == first)
    _ = other.takeEffects()

    let isDone = [try other.cancelWrite(first), try other.cancelWrite(second)]
    primary.hear()
    other.hear()

    #expect(isDone == [false, false])
    var refused: [BatchID] = []
    var cancelled: [BatchID] = []
    for effect in other.takeEffects() {
      if case .refuseCancellation(let id, let status) = effect {
        #expect(status.code == .failedPrecondition)
        refused.append(id)
      }
      if case .complete(let id, .failure(let status)) = effect, status.code == .cancelled { cancelled.append(id) }
    }
    #expect(refused == [first] && cancelled == [second])
    #expect(try primary.store.pendingBatches().map(\.id) == [first])
  }

  @Test("A new primary client completes a cancellation that the old one missed")
  func cancelAfterSuccession() throws {
    var primary = try core()
    var other = try core()
    let batch = try other.write([set("rooms/a")], at: Timestamp(seconds: 2))
    try other.cancelWrite(batch)
    try primary.store.dropLease()

    other.refreshLease(at: Timestamp(seconds: 3))

    let isPrimary = other.isPrimary
    #expect(isPrimary)
    #expect(try other.store.pendingBatches().isEmpty)
    primary.hear()
  }

  @Test("A client gets updates of a query to which another client stopped listening")
  func listenedToBefore() async throws {
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: Self.now))
    _ = try await backend.commit([set("rooms/a")], in: database)
    let engines = (0..<2).map { _ in engine(backend) }
    try await withThrowingTaskGroup { running in
      for engine in engines { running.addTask { await engine.run() } }
      // Whichever of them has the streams.
      for turn in 0..<6 {
        let mailbox = SnapshotMailbox()
        let listener = engines[turn % 2].listen(to: query("rooms"), options: .metadata, into: mailbox)
        while try await mailbox.snapshot().isFromCache {}
        engines[turn % 2].stopListening(listener)
      }
      for engine in engines { await engine.terminate() }
      try await running.waitForAll()
    }
  }

  @Test("A new primary's messages take effect even if the old primary notices late")
  func lateSuccession() throws {
    var last = try core()
    var next = try core()
    let listener = ListenerID(1)
    last.listen(listener, to: query("rooms"), options: ListenerOptions())
    next.listen(listener, to: query("rooms"), options: ListenerOptions())
    let view = try #require(last.listens.views.ids.first)
    let target = try #require(last.listens.views.target(of: view))
    last.hear()
    try last.store.dropLease()
    next.refreshLease(at: Timestamp(seconds: 2))
    let hasTaken = next.isPrimary

    try next.store.announce(current: [target: true])
    last.hear()
    let before = (last.isPrimary, last.listens.views.read(view, \.isSynced) == true)
    last.refreshLease(at: Timestamp(seconds: 3))

    let after = (last.isPrimary, last.listens.views.read(view, \.isSynced) == true)
    #expect(hasTaken && before == (true, false) && after == (false, true), "\(before) \(after)")
  }

  private func collect(_ store: inout LocalStore) throws -> Int {
    try store.collectGarbage(thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: 1000).documentsRemoved
  }

  private func engine(_ backend: LocalBackend) -> SyncEngine {
    SyncEngine(
      SyncConfiguration(store: configuration), datastore: InProcessDatastore(backend: backend, database: database),
      clock: ContinuousClock(), now: Self.now, random: CountingGenerator())
  }

  @Sendable private static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  /// Writes, listens and goes offline for a while.
  private static func use(_ engine: SyncEngine, _ number: Int) async throws {
    for index in 0..<8 {
      let mailbox = SnapshotMailbox()
      let listener = engine.listen(to: query("rooms"), options: .metadata, into: mailbox)
      _ = try await engine.write([set("rooms/\(number)-\(index)")]).local
      _ = try await mailbox.snapshot()
      if index == 2 { await engine.disableNetwork() }
      if index == 4 { await engine.changeUser(to: "other") }
      if index == 6 {
        await engine.changeUser(to: nil)
        await engine.enableNetwork()
      }
      engine.stopListening(listener)
    }
  }

  @Test("Clients on separate threads converge even after the primary leaves")
  func agreement() async throws {
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: Self.now))
    let engines = (0..<3).map { _ in engine(backend) }
    #expect(engines.allSatisfy { $0.cacheProblem == nil })
    try await withThrowingTaskGroup { running in
      for engine in engines { running.addTask { await engine.run() } }
      try await withThrowingTaskGroup { using in
        for (number, engine) in engines.enumerated() { using.addTask { try await Self.use(engine, number) } }
        try await using.waitForAll()
      }
      await engines[0].terminate()
      for user in ["other", nil] {
        for engine in engines[1...] { await engine.changeUser(to: user) }
        for engine in engines[1...] { try await engine.waitForPendingWrites() }
      }
      for engine in engines[1...] {
        let mailbox = SnapshotMailbox()
        _ = engine.listen(to: query("rooms"), options: .metadata, into: mailbox)
        var shown = try await mailbox.snapshot()
        while shown.documents.count < 24 || shown.hasPendingWrites || shown.isFromCache {
          shown = try await mailbox.snapshot()
        }
        #expect(shown.documents.count == 24)
      }
      for engine in engines[1...] { await engine.terminate() }
      try await running.waitForAll()
    }
  }
}

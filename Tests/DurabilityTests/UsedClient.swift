// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import SeededRandom

/// A whole client in this process that does a little of everything with the cache of a folder.
struct UsedClient: Sendable {
  private let backend: LocalBackend
  private let engine: SyncEngine
  private let running: Task<Void, Never>

  init(_ folder: ClientFolder, _ backend: LocalBackend) {
    self.backend = backend
    let store = LocalStoreConfiguration(
      location: .directory(folder.path + "/cache"), policy: .leastRecentlyUsed(thresholdBytes: 1 << 20),
      database: ClientFolder.database)
    let engine = SyncEngine(
      SyncConfiguration(store: store), datastore: InProcessDatastore(backend: backend, database: ClientFolder.database),
      clock: ContinuousClock(), now: { Timestamp(seconds: 1_700_000_000) }, random: SeededGenerator(seed: 1))
    self.engine = engine
    running = Task { await engine.run() }
  }

  func terminate() async {
    await engine.terminate()
    await running.value
  }

  static func set(_ path: String, _ number: Int) -> Mutation {
    let text = Value.string(String(repeating: "\(number) ", count: 20))
    return Mutation(key: key(path), operation: .set(["n": .integer(Int64(number)), "text": text]))
  }

  private static let queries: [Query] = {
    let rooms = Query(path: ResourcePath("rooms"))
    var few = rooms
    few.filters = [.field(FieldFilter(FieldPath("n"), .greaterThan, .integer(10)))]
    few.limit = 5
    return [rooms, few, Query(path: ResourcePath("halls"))]
  }()

  /// Fills a cache with documents, targets, an index, and writes that wait to be sent; what the process leaves if it
  /// is killed then is copied to the folder.
  static func fill(_ folder: ClientFolder, _ backend: LocalBackend) async throws {
    let origin = try ClientFolder()
    let client = UsedClient(origin, backend)
    for number in 0..<120 { try await backend.commit([set("rooms/\(number)", number)], in: ClientFolder.database) }
    for query in queries { _ = await client.outcome(of: query) }
    for number in 0..<30 { _ = try await client.engine.write([set("rooms/\(number)", 1000 + number)]).local }
    try await client.engine.waitForPendingWrites()
    await client.engine.disableNetwork()
    for number in 0..<10 {
      _ = try await client.engine.write([set("rooms/\(number)", 2000), set("halls/\(number)", 1)]).local
    }
    try origin.copyCache(to: folder)
    await client.terminate()
  }

  /// - Returns: why the cache was not used from the start, and every failure of a call.
  func use() async throws -> (refusal: String?, failures: [RPCStatus]) {
    var failures: [RPCStatus] = []
    for query in Self.queries {
      if let failure = await outcome(of: query) { failures.append(failure) }
    }
    func attempt(_ call: () async throws(RPCStatus) -> Void) async {
      do throws(RPCStatus) { try await call() } catch { failures.append(error) }
    }
    for query in Self.queries {
      await attempt { () throws(RPCStatus) in _ = try await engine.cachedDocuments(query) }
    }
    for number in 0..<20 {
      await attempt { () throws(RPCStatus) in _ = try await engine.write([Self.set("rooms/\(number * 7)", 3)]).local }
      await attempt { () throws(RPCStatus) in _ = try await engine.layers(of: key("rooms/\(number)")) }
    }
    try await backend.commit([Self.set("halls/other", 1)], in: ClientFolder.database)
    await attempt { () throws(RPCStatus) in try await engine.waitForPendingWrites() }
    await attempt { () throws(RPCStatus) in _ = try await engine.cachedCollectionIDs(below: ResourcePath("")) }
    await engine.changeUser(to: "ada")
    await attempt { () throws(RPCStatus) in _ = try await engine.write([Self.set("rooms/ada", 3)]).local }
    await attempt { () throws(RPCStatus) in try await engine.waitForPendingWrites() }
    if let failure = await outcome(of: Self.queries[0]) { failures.append(failure) }
    return (engine.cacheProblem?.notice, failures)
  }

  /// - Returns: how a listener, a new write and a wait for all writes end, at the latest when something else goes
  ///   wrong.
  func waitForEverything() async -> [RPCStatus?] {
    let mailbox = SnapshotMailbox()
    _ = engine.listen(to: Self.queries[2], options: ListenerOptions(), into: mailbox)
    let write = engine.write([Self.set("halls/new", 1)])
    async let listening = Self.end(of: mailbox)
    async let writing = Self.failure { () throws(RPCStatus) in _ = try await write.acknowledged }
    async let waiting = Self.failure { () throws(RPCStatus) in try await engine.waitForPendingWrites() }
    return await [listening, writing, waiting]
  }

  /// The writes that are told to have been refused.
  func refusedWrites() async -> [BatchID] {
    let status = await engine.status().first { _ in true }
    return status?.recentOutcomes.filter { $0.rejection != nil }.map(\.batch) ?? []
  }

  private static func failure(_ call: @Sendable () async throws(RPCStatus) -> Void) async -> RPCStatus? {
    do throws(RPCStatus) { try await call() } catch { return error }
    return nil
  }

  private static func end(of mailbox: SnapshotMailbox) async -> RPCStatus? {
    while let element = await mailbox.next() {
      if case .failed(let status) = element { return status }
    }
    return nil
  }

  /// Listens until the result is the backend's.
  /// - Returns: why it never will be.
  private func outcome(of query: Query) async -> RPCStatus? {
    let mailbox = SnapshotMailbox()
    var options = ListenerOptions()
    options.includeMetadataChanges = true
    let id = engine.listen(to: query, options: options, into: mailbox)
    defer { engine.stopListening(id) }
    while let element = await mailbox.next() {
      switch element {
      case .snapshot(let snapshot) where snapshot.isFromCache: continue
      case .snapshot: return nil
      case .failed(let status): return status
      }
    }
    return RPCStatus(.cancelled, "The listener ended.")
  }
}

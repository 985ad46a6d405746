// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreBackend

@Suite struct FaultKindTests {
  private let backend: LocalBackend
  private let faults = FaultInjector(seed: 1)
  private let clock = ManualClock(patience: .seconds(Int64.max))
  private let datastore: FaultyDatastore

  init() throws {
    backend = try makeBackend()
    datastore = FaultyDatastore(
      InProcessDatastore(backend: backend, database: database), faults: faults, clock: clock)
  }

  /// The waits of a commit and a read of a document of so many bytes.
  private func waits(_ bytes: Int) async throws -> [Duration] {
    let before = clock.delays.count
    _ = try await datastore.commit([set("c/a", ["v": .string(String(repeating: "x", count: bytes))])])
    _ = try await datastore.lookup([key("c/a")])
    return Array(clock.delays.dropFirst(before))
  }

  @Test("Limited bandwidth delays requests and responses by their size until 'calm' runs")
  func bandwidth() async throws {
    try faults.perform(.bandwidth(1000, on: nil))
    // The commit, its answer, and the answer to the read.
    let waits = try await waits(10_000)
    #expect(waits.count == 3)
    #expect(waits[0] > .seconds(10) && waits[0] < .seconds(11) && waits[1] < .milliseconds(100))
    #expect(waits[2] > .seconds(10) && waits[2] < .seconds(11))
    try faults.perform(.calm)
    #expect(try await self.waits(10_000).isEmpty)
  }

  @Test("A slow reader delays only responses, and a limit on writes delays no reads")
  func slowReader() async throws {
    try faults.perform(.slowReader(1000))
    let waits = try await waits(10_000)
    #expect(waits.count == 2 && waits[0] < .milliseconds(100) && waits[1] > .seconds(10))
    try faults.perform(.calm)
    try faults.perform(.bandwidth(1000, on: .write))
    try faults.perform(.latency(.seconds(3), jitter: .zero, on: .read))
    let others = try await self.waits(10_000)
    #expect(others.count == 3 && others[0] > .seconds(10) && others[2] == .seconds(3))
  }

  @Test("A pending fault is listed and reported until it occurs or is withdrawn")
  func waiting() async throws {
    var changes = faults.changes().makeAsyncIterator()
    try faults.perform(.event(.write(.dropRequest)))
    try faults.perform(.event(.read(.aborted)))
    await changes.next()
    #expect(faults.waiting == [.write(.dropRequest), .read(.aborted)])
    await #expect(throws: FaultInjector.broken) { try await datastore.commit([set("c/a", [:])]) }
    await changes.next()
    #expect(faults.waiting == [.read(.aborted)])
    try faults.perform(.calm)
    await changes.next()
    #expect(faults.waiting.isEmpty)
  }

  @Test("With full loss, writes do not reach the backend until 'calm' runs")
  func loss() async throws {
    try faults.perform(.loss(100, before: true))
    await #expect(throws: FaultInjector.broken) { try await datastore.commit([set("c/a", [:])]) }
    #expect(try await backend.read("c/a").exists == false)
    try faults.perform(.calm)
    _ = try await datastore.commit([set("c/a", [:])])
  }

  @Test("A read fault rejects only the next read, and 'calm' cancels pending faults")
  func read() async throws {
    try faults.perform(.event(.read(.resourceExhausted)))
    let error = await #expect(throws: RPCStatus.self) { try await datastore.lookup([key("c/a")]) }
    #expect(error?.code == .resourceExhausted)
    _ = try await datastore.lookup([key("c/a")])
    try faults.perform(.event(.read(.resourceExhausted)))
    try faults.perform(.event(.write(.dropRequest)))
    try faults.perform(.event(.listen(.notFound)))
    try faults.perform(.calm)
    _ = try await datastore.lookup([key("c/a")])
    _ = try await datastore.commit([set("c/a", [:])])
    #expect(faults.takeListenFault() == nil)
  }

  @Test("Without a proxy, a client rejects the fault expire-token")
  func refused() {
    #expect { try faults.perform(.event(.expireToken)) } throws: { error in
      guard let status = error as? RPCStatus else { return false }
      return status.code == .unimplemented && status.message.hasPrefix("expire-token")
    }
    #expect(faults.settings.isCalm)
  }

  @Test("After expire-token only tokens received since then are sent")
  func tokens() async throws {
    let played = ScriptedDatastore()
    let datastore = FaultyDatastore(played, faults: faults, clock: clock)
    let (old, fresh) = (ResumeToken([1]), ResumeToken([2]))
    /// The resume of a target as the backend gets it; then the backend tells a token.
    func sent(_ token: ResumeToken?, told: ResumeToken?) async throws -> WatchTarget.Resume? {
      var resume: WatchTarget.Resume?
      _ = try await InProcessDatastoreTests.watching(datastore) { requests, events in
        let target = WatchTarget(id: 2, target: query("c"), resume: token.map { .token($0) }, expectedCount: 1)
        requests.send(.add(target))
        let watch = try #require(await played.watches.next())
        guard case .add(let seen)? = await watch.request() else { return }
        #expect((seen.expectedCount == nil) == (seen.resume == nil))
        resume = seen.resume
        await watch.send(.changes([.current([2], told)]))
      }
      return resume
    }
    #expect(try await sent(old, told: nil) == old.map { .token($0) })
    try faults.perform(.event(.restart(withoutTokens: true)))
    #expect(try await sent(old, told: fresh) == nil)
    #expect(try await sent(fresh, told: nil) == fresh.map { .token($0) })
    try faults.perform(.calm)
    #expect(try await sent(old, told: nil) == old.map { .token($0) })
  }

  @Test("A restart fails open calls with unavailable, and later calls succeed")
  func restart() async throws {
    let status = try await InProcessDatastoreTests.watching(datastore, endsByItself: true) { _, events in
      #expect(InProcessDatastoreTests.isOpened(await events.next()))
      try faults.perform(.event(.restart(withoutTokens: false)))
    }
    #expect(status == FaultInjector.restarted)
    #expect(try await datastore.runQuery(query("c")).isEmpty)
  }
}

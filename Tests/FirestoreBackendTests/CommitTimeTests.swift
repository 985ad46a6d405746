// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Synchronization
import Testing

@testable import FirestoreBackend

@Suite("Commit times") struct CommitTimeTests {
  private func stamp(_ backend: LocalBackend) async throws -> (commit: Timestamp, server: Timestamp) {
    let response = try await backend.commit(transform("c/a", .serverTimestamp))
    guard case .timestamp(let time)? = response.results[0].transformResults.first else {
      throw RPCStatus(.internal, "no timestamp")
    }
    return (response.commitTime.timestamp, time)
  }

  @Test("Server timestamps increase with every commit, even if the clock goes back")
  func increasing() async throws {
    let directory = TemporaryFolder()
    let clock = TestClock(5_000_000_400)
    var last = Timestamp(seconds: 0)
    for restart in 0..<3 {
      let backend = try makeBackend(.directory(directory.path), clock: clock)
      for step in 0..<20 {
        let (commit, server) = try await stamp(backend)
        #expect(server > last, "restart \(restart), step \(step)")
        #expect(server <= commit)
        last = server
        // None at all, part of a millisecond, more than one, and back.
        clock.advance([0, 300, 1_700, -2_000][step % 4])
      }
    }
    // Not ahead of the clock by more than the commits themselves.
    #expect(last.microseconds < 5_000_010_000)
  }

  @Test("Server timestamps are truncated to ms, except for a second commit in the same ms")
  func precision() async throws {
    let clock = TestClock(5_000_000_400)
    let backend = try makeBackend(clock: clock)
    #expect(try await stamp(backend).server == Timestamp(microseconds: 5_000_000_000))
    clock.advance(1_000)
    #expect(try await stamp(backend).server == Timestamp(microseconds: 5_000_001_000))
    clock.advance(200)
    #expect(try await stamp(backend).server == Timestamp(microseconds: 5_000_001_600))
  }

  @Test("A clock that was in the future is reported once and does not block commits")
  func future() async throws {
    let clock = TestClock(1_700_000_000_000_000)
    let reports = Mutex<[String]>([])
    let backend = try LocalBackend(
      BackendConfiguration(location: .memory, now: clock.now, report: { line in reports.withLock { $0.append(line) } }))
    clock.set(Timestamp.latest.microseconds - 10)
    try await backend.commit(set("c/a", [:]))
    #expect(reports.withLock { $0 } == [])
    clock.set(1_700_000_000_000_000)

    let next = try await backend.commit(set("c/b", [:])).commitTime.timestamp
    #expect(next.isValid)
    let text = reports.withLock { $0 }
    #expect(text.count == 1 && text[0].contains("is dated 9999-12-31T23:59:59.99999"))
    // No time is left after this one.
    let error = await #expect(throws: RPCStatus.self) {
      while true { try await backend.commit(set("c/c", [:])) }
    }
    #expect(error?.message.contains("latest possible time") == true)
  }

  @Test("A clock error is reported again if it grows or ends")
  func futureAgain() async throws {
    let (now, day) = (Int64(1_700_000_000_000_000), Int64(86_400_000_000))
    let clock = TestClock(now)
    let reports = Mutex<[String]>([])
    let backend = try LocalBackend(
      BackendConfiguration(location: .memory, now: clock.now, report: { line in reports.withLock { $0.append(line) } }))
    func commit(_ time: Int64) async throws -> Int {
      clock.set(time)
      try await backend.commit(set("c/a", ["n": .integer(time)]))
      return reports.withLock { $0.count }
    }
    #expect(try await commit(now) == 0)
    #expect(try await commit(now + day) == 0)
    #expect(try await commit(now) == 1)
    #expect(try await commit(now + 10) == 1)
    #expect(try await commit(now + 3_650 * day) == 1)
    #expect(try await commit(now) == 2)
    #expect(try await commit(now + 20) == 2)
    // The clock has caught up, and then goes back.
    #expect(try await commit(now + 3_651 * day) == 2)
    #expect(try await commit(now) == 3)
  }

  @Test(
    "Timestamps outside Firestore's range are rejected at any depth",
    arguments: [
      Timestamp(seconds: .min), Timestamp(seconds: .max), Timestamp(seconds: -62_135_596_801),
      Timestamp(seconds: 253_402_300_800), Timestamp(seconds: 0, nanoseconds: -1),
      Timestamp(seconds: 0, nanoseconds: 1_000_000_000),
    ])
  func outOfRange(_ time: Timestamp) async throws {
    let backend = try makeBackend()
    let value = Value.timestamp(time)
    let mutations = [
      set("c/a", ["v": value]), set("c/a", ["v": .map(["w": .array([value])])]), transform("c/a", .arrayUnion([value])),
    ]
    for mutation in mutations {
      let error = await #expect(throws: RPCStatus.self) { try await backend.commit(mutation) }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message.contains("seconds: \(time.seconds)") == true)
    }
    for time in [Timestamp.earliest, .latest] { try await backend.commit(set("c/a", ["v": .timestamp(time)])) }
  }
}

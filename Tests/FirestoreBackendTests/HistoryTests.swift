// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Testing

@testable import FirestoreBackend

@Suite("Reading past versions")
struct HistoryTests {
  let clock = TestClock()

  private func value(
    _ path: String, at time: SnapshotVersion, _ backend: LocalBackend
  ) async throws -> Value? {
    try await backend.documents([key(path)], .readTime(time.timestamp), in: database).documents[0]["v"]
  }

  /// Why a time is refused as too old; `nil` if it is not.
  private func refusal(
    _ path: String, at time: SnapshotVersion, _ backend: LocalBackend
  ) async throws -> String? {
    do throws(RPCStatus) {
      _ = try await backend.documents([key(path)], .readTime(time.timestamp), in: database)
      return nil
    } catch  where error.code == .failedPrecondition { return error.message }
  }

  @Test("A document is read as of each version, before creation and after deletion")
  func documentAtVersions() async throws {
    let backend = try makeBackend(clock: clock)
    let first = try await backend.commit(set("c/a", ["v": 1])).commitTime
    let second = try await backend.commit(set("c/a", ["v": 2])).commitTime
    let third = try await backend.commit(delete("c/a")).commitTime
    let fourth = try await backend.commit(set("c/a", ["v": 4])).commitTime

    #expect(try await value("c/a", at: first, backend) == 1)
    #expect(try await value("c/a", at: second, backend) == 2)
    #expect(try await value("c/a", at: third, backend) == nil)
    #expect(try await value("c/a", at: fourth, backend) == 4)
    let before = SnapshotVersion(microseconds: first.microseconds - 1)
    let old = SnapshotVersion(microseconds: before.microseconds - 4_000_000_000)
    #expect(try await refusal("c/a", at: old, backend)?.hasSuffix("earlier versions are kept for an hour.") == true)
  }

  @Test("Read times follow the clock, never go back, and can be read from again later")
  func readTimes() async throws {
    let backend = try makeBackend(clock: clock)
    let commit = try await backend.commit(set("c/a", ["v": 1])).commitTime
    func read() async throws -> SnapshotVersion { try await backend.lookup([key("c/a")], in: database).readTime }

    #expect(try await read() == commit)
    clock.advance(seconds: 5)
    let later = try await read()
    #expect(later.timestamp == clock.now())
    #expect(try await backend.run(ReadRequest(ServedQuery(query("c")), in: database)).readTime == later)
    clock.advance(seconds: -3)
    #expect(try await read() == later)
    let next = try await backend.commit(set("c/a", ["v": 2])).commitTime
    #expect(next > later)
    #expect(try await value("c/a", at: later, backend) == 1)
  }

  @Test("An old read time can still be read if nothing was committed since")
  func oldReadTime() async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.commit(set("c/a", ["v": 1]))
    clock.advance(seconds: 60)
    let time = try await backend.lookup([key("c/a")], in: database).readTime
    clock.advance(seconds: 7_200)
    _ = try await backend.lookup([key("c/a")], in: database)

    #expect(try await value("c/a", at: time, backend) == 1)
    try await backend.commit(set("c/a", ["v": 2]))
    #expect(try await refusal("c/a", at: time, backend) != nil)
  }

  @Test("A past query and its count use the same version in both sort directions")
  func queryAtVersion() async throws {
    let backend = try makeBackend(clock: clock)
    let time = try await backend.commit(set("c/a", ["v": 1]), set("c/b", ["v": 2]), set("c/c", ["v": 3])).commitTime
    try await backend.commit(delete("c/b"), set("c/a", ["v": 10]), set("c/d", ["v": 4]))

    let descending = query("c", orderBy: [OrderBy(.documentID, .descending)], limit: 2)
    func paths(_ target: Target, _ consistency: ReadConsistency) async throws -> [String] {
      try await backend.run(ReadRequest(ServedQuery(target), consistency, in: database)).documents.map(\.path)
    }
    #expect(try await paths(query("c"), .readTime(time.timestamp)) == ["c/a", "c/b", "c/c"])
    #expect(try await paths(descending, .readTime(time.timestamp)) == ["c/c", "c/b"])
    #expect(try await paths(query("c"), .latest) == ["c/a", "c/c", "c/d"])
    let figures = try await backend.aggregate(
      ReadRequest(ServedQuery(query("c")), .readTime(time.timestamp), in: database),
      [Aggregation(alias: "n", function: .count), Aggregation(alias: "s", function: .sum(FieldPath("v")))])
    #expect(figures.values == ["n": 3, "s": 6])
  }

  @Test("A past read lists the collection ids of that time")
  func collectionIDsAtVersion() async throws {
    let backend = try makeBackend(clock: clock)
    let time = try await backend.commit(set("a/x", [:]), set("b/x/c/y", [:])).commitTime
    try await backend.commit(delete("a/x"), set("d/x", [:]))

    #expect(try await backend.collectionIDs(below: .root, .readTime(time.timestamp), in: database) == ["a", "b"])
    #expect(try await backend.collectionIDs(below: .root, .latest, in: database) == ["b", "d"])
  }

  @Test("A later commit is newer than an earlier read time, even if the clock stops")
  func commitIsNewerThanRead() async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.commit(set("c/a", ["v": 1]))
    clock.advance(500)
    let now = clock.now()
    _ = try await backend.documents([key("c/a")], .readTime(now), in: database)

    let commit = try await backend.commit(set("c/a", ["v": 2])).commitTime

    #expect(commit.timestamp > now)
    #expect(try await value("c/a", at: SnapshotVersion(now), backend) == 1)
  }

  @Test("Read times in the future or with fractions of microseconds are rejected")
  func refusedTimes() async throws {
    let backend = try makeBackend(clock: clock)
    await #expect(throws: RPCStatus(.invalidArgument, "The requested 'read_time' cannot be in the future.")) {
      _ = try await backend.documents([], .readTime(Timestamp(seconds: 9_000_000)), in: database)
    }
    await #expect(throws: RPCStatus(.invalidArgument, "timestamp cannot have more than microseconds precision")) {
      _ = try await backend.documents([], .readTime(Timestamp(seconds: 1000, nanoseconds: 1)), in: database)
    }
  }

  @Test("A read time older than an hour is rejected unless nothing has changed since")
  func pastExpires() async throws {
    let backend = try makeBackend(clock: clock)
    let first = try await backend.commit(set("c/a", ["v": 1])).commitTime
    clock.advance(3_700_000_000)
    #expect(try await value("c/a", at: first, backend) == 1)
    try await backend.commit(set("c/a", ["v": 2]))
    let hourAgo = Timestamp(microseconds: clock.now().microseconds - 3_600_000_000).rfc3339Text
    #expect(
      try await refusal("c/a", at: first, backend)
        == "The requested 'read_time' is too old. The oldest readable time is \(hourAgo): earlier versions are kept "
        + "for an hour.")
  }

  @Test("Clearing a database removes its history, and past reads report this")
  func replaced() async throws {
    let backend = try makeBackend(clock: clock)
    let first = try await backend.commit(set("c/a", ["v": 1])).commitTime
    clock.advance(1_000_000)
    try await backend.deleteAllDocuments(in: database)
    clock.advance(1_000_000)
    try await backend.commit(set("c/a", ["v": 2]))
    #expect(
      try await refusal("c/a", at: first, backend)?.hasSuffix("all documents were replaced or removed at that time.")
        == true)
  }

  @Test("Pruning removes only expired history, in slices")
  func pruning() async throws {
    let backend = try makeBackend(clock: clock)
    for number in 0..<20 { try await backend.commit(set("c/a", ["v": .integer(Int64(number))])) }
    clock.advance(3_700_000_000)
    try await backend.commit(set("c/a", ["v": 100]))
    let recent = try await backend.commit(set("c/a", ["v": 101])).commitTime
    try await backend.commit(set("c/a", ["v": 102]))
    await backend.heartbeat()

    #expect(try await value("c/a", at: recent, backend) == 101)
    #expect(try await backend.historyRows() == 3)
  }

  @Test("History has a size limit, and pruned times are too old to read")
  func boundedBytes() async throws {
    let directory = TemporaryFolder()
    let text = Value.string(String(repeating: "x", count: 20_000))
    var times: [SnapshotVersion] = []
    func open(_ bytes: Int64) throws -> LocalBackend {
      try LocalBackend(
        BackendConfiguration(location: .directory(directory.path), keptHistoryBytes: bytes, now: clock.now))
    }
    do {
      let backend = try open(1 << 20)
      for number in 0..<300 {
        times.append(try await backend.commit(set("c/a", ["v": .integer(Int64(number)), "t": text])).commitTime)
      }
      #expect(try await backend.historyRows() < 55)
      #expect(try await value("c/a", at: times[290], backend) == 290)
      let refused = try #require(try await refusal("c/a", at: times[100], backend))
      #expect(refused.hasSuffix(": at most 1 MiB of earlier versions are kept."))
      // The time that it names can be read, and the one before it cannot.
      let oldest = try #require(
        times.first { refused.contains("readable time is \($0.timestamp.rfc3339Text):") }, "\(refused)")
      #expect(try await value("c/a", at: oldest, backend) != nil)
      #expect(try await refusal("c/a", at: SnapshotVersion(microseconds: oldest.microseconds - 1), backend) == refused)
    }
    // With less room after a restart, the first commit that needs it makes it.
    let backend = try open(1 << 18)
    #expect(try await refusal("c/a", at: times[100], backend)?.contains("of earlier versions are kept") == true)
    try await backend.commit(set("c/a", ["v": 300]))
    #expect(try await backend.historyRows() < 14)
    #expect(try await value("c/a", at: times[298], backend) == 298)
  }

  @Test("A long read whose history is pruned ends with an error, not a partial result")
  func overtaken() async throws {
    let backend = try LocalBackend(
      BackendConfiguration(location: .memory, keptHistoryBytes: 10_000, now: clock.now))
    let first = try await backend.commit(set("c/a", ["v": 1])).commitTime
    for number in 0..<20 {
      try await backend.commit(set("c/b", ["t": .string(String(repeating: "x", count: 2_000 + number))]))
    }
    await #expect(throws: StoreError.self) { try await backend.readDirectly(at: first.microseconds) }
  }
}

extension LocalBackend {
  /// As a slice of a read does whose version was checked when it began.
  fileprivate func readDirectly(at version: Int64) throws(StoreError) {
    _ = try log.read(database, at: version) { reader throws(StoreError) in try reader.document(key("c/a")) }
  }
}

extension LocalBackend {
  fileprivate func historyRows() throws -> Int64 {
    try log.file.access { connection throws(StoreError) in
      try connection.first("SELECT count(*) FROM history") { $0.integer(0) } ?? -1
    }
  }
}

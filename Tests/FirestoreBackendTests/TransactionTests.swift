// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Synchronization
import Testing

@testable import FirestoreBackend

@Suite("Transactions")
struct TransactionTests {
  let clock = TestClock()
  private let contention = RPCStatus(.aborted, "Too much contention on these documents. Please try again.")

  private func begin(_ backend: LocalBackend, retrying: [UInt8]? = nil) async throws -> [UInt8] {
    try await backend.beginTransaction(.readWrite(retrying: retrying), in: database).bytes
  }

  private func read(_ paths: String..., in transaction: [UInt8], _ backend: LocalBackend) async throws -> [Value?] {
    let keys = paths.map { key($0) }
    return try await backend.documents(keys, .transaction(transaction), in: database).documents.map { $0["v"] }
  }

  @Test("A transaction with unchanged documents commits")
  func commits() async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.commit(set("c/a", ["v": 1]))
    let transaction = try await begin(backend)
    #expect(try await read("c/a", "c/none", in: transaction, backend) == [1, nil])
    try await backend.commit(set("c/other", ["v": 1]))

    _ = try await backend.commit([set("c/a", ["v": 2])], in: database, transaction: transaction)

    #expect(try await backend.read("c/a")["v"] == 2)
  }

  @Test("A client that opens too many transactions loses only its own transactions")
  func room() throws {
    var table = TransactionTable(at: 0, maximumOpen: 10)
    let (greedy, modest) = (ClientID(), ClientID())
    func begin(_ client: ClientID, _ time: Int64) throws(StoreError) -> TransactionID {
      let transaction = OpenTransaction(
        database: database, isReadOnly: false, client: client, began: time, used: time)
      return try table.begin(transaction, at: time)
    }
    let first = try begin(greedy, 1)
    for time in 2...10 { _ = try begin(greedy, Int64(time)) }
    #expect(throws: StoreError.self) { try begin(greedy, 11) }

    let kept = try begin(modest, 12)

    #expect(table[first] == nil && table[kept] != nil)
    #expect(throws: StoreError.self) { try begin(greedy, 13) }
    for time in 14...17 { _ = try begin(modest, Int64(time)) }
    #expect(throws: StoreError.self) { try begin(modest, 18) }
    #expect(table[kept] != nil)
  }

  @Test(
    "A commit is aborted if a document that was read changed, appeared or disappeared", arguments: ["c/a", "c/none"])
  func conflicts(path: String) async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.commit(set("c/a", ["v": 1]))
    let transaction = try await begin(backend)
    _ = try await read("c/a", "c/none", in: transaction, backend)
    try await backend.commit(path == "c/a" ? delete("c/a") : set(path, ["v": 5]))

    await #expect(throws: contention) {
      _ = try await backend.commit([set("c/b", ["v": 2])], in: database, transaction: transaction)
    }
    #expect(try await !backend.read("c/b").exists)
  }

  @Test("A change to a queried result aborts a transaction, and other changes do not")
  func queries() async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.commit(set("c/a", ["v": 1]), set("c/b", ["v": 2]))
    func attempt(_ change: Mutation) async throws {
      let transaction = try await begin(backend)
      let target = query("c", [field("v", .equal, 1)])
      _ = try await backend.run(ReadRequest(ServedQuery(target), .transaction(transaction), in: database))
      try await backend.commit(change)
      _ = try await backend.commit([set("d/x", ["v": 0])], in: database, transaction: transaction)
    }
    try await attempt(set("c/b", ["v": 3]))
    await #expect(throws: contention) { try await attempt(set("c/b", ["v": 1])) }
    await #expect(throws: contention) { try await attempt(set("c/b", ["v": 9])) }
  }

  @Test("All reads of a transaction see the version of its first read")
  func consistentReads() async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.commit(set("c/a", ["v": 1]), set("c/b", ["v": 1]))
    let transaction = try await begin(backend)
    #expect(try await read("c/a", in: transaction, backend) == [1])
    try await backend.commit(set("c/b", ["v": 2]))
    #expect(try await read("c/b", in: transaction, backend) == [1])
  }

  @Test("A read-only transaction reads at its read time and writes nothing")
  func readOnly() async throws {
    let backend = try makeBackend(clock: clock)
    let time = try await backend.commit(set("c/a", ["v": 1])).commitTime
    try await backend.commit(set("c/a", ["v": 2]))
    let id = try await backend.beginTransaction(.readOnly(readTime: time.timestamp), in: database).bytes
    #expect(try await read("c/a", in: id, backend) == [1])
    await #expect(throws: RPCStatus(.invalidArgument, "Cannot modify entities in a read-only transaction.")) {
      _ = try await backend.commit([set("c/a", ["v": 3])], in: database, transaction: id)
    }
    _ = try await backend.commit([], in: database, transaction: id)
  }

  @Test("An ended transaction can only be rolled back; an unknown transaction is rejected")
  func endedTransactions() async throws {
    let backend = try makeBackend(clock: clock)
    let transaction = try await begin(backend)
    try await backend.rollback(transaction, in: database)
    try await backend.rollback(transaction, in: database)
    await #expect(throws: RPCStatus(.invalidArgument, "Transaction is invalid or closed.")) {
      _ = try await backend.commit([], in: database, transaction: transaction)
    }
    await #expect(throws: RPCStatus(.invalidArgument, "Invalid transaction.")) {
      try await backend.rollback([1, 2, 3], in: database)
    }
    _ = try await begin(backend, retrying: transaction)
    await #expect(throws: RPCStatus(.invalidArgument, "Invalid transaction.")) {
      _ = try await begin(backend, retrying: [9])
    }
  }

  @Test("A transaction expires after a minute idle or 4.5 minutes in total")
  func expiry() async throws {
    let backend = try makeBackend(clock: clock)
    let expired = RPCStatus(.invalidArgument, "The referenced transaction has expired or is no longer valid.")
    let idle = try await begin(backend)
    clock.advance(61_000_000)
    await #expect(throws: expired) { _ = try await read("c/a", in: idle, backend) }

    let busy = try await begin(backend)
    for _ in 0..<5 {
      clock.advance(50_000_000)
      _ = try await read("c/a", in: busy, backend)
    }
    clock.advance(50_000_000)
    await #expect(throws: expired) { _ = try await read("c/a", in: busy, backend) }
  }

  @Test("A batch write's writes succeed separately; a document may appear only once")
  func batchWrite() async throws {
    let backend = try makeBackend(clock: clock)
    let results = try await backend.commitEach(
      [set("c/a", ["v": 1]), set("c/b", [:], .exists(true)), set("c/c", ["v": 3])], in: database)
    #expect(results.map { if case .success = $0 { true } else { false } } == [true, false, true])
    await #expect(throws: RPCStatus.self) {
      _ = try await backend.commitEach([set("c/a", [:]), delete("c/a")], in: database)
    }
  }

  @Test("The nearest vectors are returned first, within the threshold, with distances")
  func nearest() async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.commit(
      set("c/a", ["e": .vector([1, 0])]), set("c/b", ["e": .vector([0, 3])]), set("c/c", ["e": .vector([2, 0])]),
      set("c/d", ["e": .vector([1])]), set("c/e", ["e": 1]))
    func search(_ measure: NearestNeighbors.Measure, threshold: Double? = nil) async throws -> [String] {
      let nearest = NearestNeighbors(
        path: FieldPath("e"), vector: [1, 0], measure: measure, limit: 2, resultField: FieldPath("d"),
        threshold: threshold)
      let found = try await backend.run(ReadRequest(ServedQuery(query("c"), nearest: nearest), .latest, in: database))
      return found.documents.map { "\($0.path) \($0["d"] ?? .null)" }
    }
    #expect(try await search(.euclidean) == ["c/a double(0.0)", "c/c double(1.0)"])
    #expect(try await search(.dotProduct) == ["c/c double(2.0)", "c/a double(1.0)"])
    #expect(try await search(.euclidean, threshold: 0.5) == ["c/a double(0.0)"])
  }

  @Test("A query over all collections below a path finds documents at the given depth")
  func kindless() async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.commit(set("a/1", [:]), set("b/2", [:]), set("a/1/c/3", [:]), set("a/1/c/3/d/4", [:]))
    func paths(_ scope: ServedQuery.Scope, below path: String) async throws -> [String] {
      let target = Query(path: ResourcePath(path)).target
      return try await backend.run(ReadRequest(ServedQuery(target, scope: scope), .latest, in: database)).documents.map(
        \.path)
    }
    #expect(try await paths(.children, below: "") == ["a/1", "b/2"])
    #expect(try await paths(.descendants, below: "") == ["a/1", "a/1/c/3", "a/1/c/3/d/4", "b/2"])
    #expect(try await paths(.children, below: "a/1") == ["a/1/c/3"])
    #expect(try await paths(.descendants, below: "a/1") == ["a/1/c/3", "a/1/c/3/d/4"])
  }

  @Test("A long query reads one version despite writes between its slices")
  func slicedQueryIsConsistent() async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.seed((0..<5_000).map { (key("c/\($0)"), ["v": 1] as Fields) }, in: database)
    async let sum = backend.aggregate(
      ReadRequest(ServedQuery(query("c")), in: database), [Aggregation(alias: "s", function: .sum(FieldPath("v")))])
    for number in 0..<50 { try await backend.commit(set("c/\(number * 100)", ["v": 1_000_000])) }
    let total = try await sum.values["s"]
    // The read may have begun after some of the writes, but it saw each of them or not.
    guard case .integer(let value)? = total else { return #expect(Bool(false), "no sum") }
    #expect((value - 5_000) % 999_999 == 0)
  }

  @Test(
    "Removing everything below a path notifies listeners of each document",
    arguments: [
      ("a", ["ab/1", "b/1"]), ("a/1", ["a/2", "a/2/c/3", "ab/1", "b/1"]),
      ("a/2/c", ["a/1", "a/1/c/3", "a/2", "ab/1", "b/1"]),
      ("none", ["a/1", "a/1/c/3", "a/2", "a/2/c/3", "ab/1", "b/1"]),
    ])
  func deletesBelow(path: String, rest: [String]) async throws {
    let backend = try makeBackend(clock: clock)
    for path in ["a/1", "a/1/c/3", "a/2", "a/2/c/3", "ab/1", "b/1"] { try await backend.commit(set(path, ["v": 1])) }

    try await backend.deleteDocuments(below: ResourcePath(path), in: database)

    let all = ServedQuery(
      Target(path: ResourcePath(""), filters: [], orderBy: [OrderBy(.documentID)], limit: nil, start: nil, end: nil),
      scope: .descendants)
    let left = try await backend.run(ReadRequest(all, .latest, in: database)).documents.map(\.key.path.text)
    #expect(left.sorted() == rest)
  }

  @Test("A query that has to sort lets other work run between slices")
  func pauses() async throws {
    let count = Mutex(0)
    let backend = try LocalBackend(
      BackendConfiguration(location: .memory, now: clock.now), pause: { count.withLock { $0 += 1 } })
    try await backend.seed((0..<3_500).map { (key("c/\($0)"), ["v": 1, "w": 2] as Fields) }, in: database)
    let target = query("c", orderBy: [OrderBy(FieldPath("v")), OrderBy(FieldPath("w"))], limit: 10)

    let found = try await backend.run(ReadRequest(ServedQuery(target), .latest, in: database)).documents

    #expect(found.count == 10 && count.withLock { $0 } == 3)
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreBackend

@Suite("Locks of pessimistic transactions")
struct LockTests {
  let clock = TestClock()

  private func begin(_ backend: LocalBackend) async throws -> [UInt8] {
    try await backend.beginTransaction(.readWrite(retrying: nil, concurrency: .pessimistic), in: database).bytes
  }

  private func read(_ paths: String..., in transaction: [UInt8], _ backend: LocalBackend) async throws -> [Value?] {
    let keys = paths.map { key($0) }
    return try await backend.documents(keys, .transaction(transaction), in: database).documents.map { $0["v"] }
  }

  private func isLocked(_ mutation: Mutation, _ backend: LocalBackend) async throws -> Bool {
    do throws(RPCStatus) { _ = try await backend.commit([mutation], in: database) } catch LocalBackend.locked {
      return true
    }
    return false
  }

  @Test("A document that a transaction has read is locked until the transaction ends", arguments: ["c/a", "c/none"])
  func document(path: String) async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.commit(set("c/a", ["v": 1]))
    let transaction = try await begin(backend)
    _ = try await read("c/a", "c/none", in: transaction, backend)

    #expect(try await isLocked(set(path, ["v": 2]), backend))
    #expect(try await isLocked(delete(path), backend))
    #expect(try await !isLocked(set("c/other", ["v": 2]), backend))
    _ = try await backend.commit([set("c/x", ["v": 1])], in: database, transaction: transaction)
    #expect(try await !isLocked(set(path, ["v": 2]), backend))
  }

  @Test("An expired transaction holds no locks")
  func expired() async throws {
    let backend = try makeBackend(clock: clock)
    let transaction = try await begin(backend)
    _ = try await read("c/a", in: transaction, backend)
    #expect(try await isLocked(set("c/a", [:]), backend))
    clock.advance(seconds: 61)

    #expect(try await !isLocked(set("c/a", [:]), backend))
  }

  @Test("A query locks its matches and documents that would match, and no others")
  func query() async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.commit(set("c/in", ["v": 1]), set("c/out", ["v": 2]))
    let transaction = try await begin(backend)
    let target = FirestoreBackendTests.query("c", [field("v", .equal, 1)])
    _ = try await backend.run(ReadRequest(ServedQuery(target), .transaction(transaction), in: database))

    #expect(try await isLocked(delete("c/in"), backend))
    #expect(try await isLocked(set("c/out", ["v": 1]), backend))
    #expect(try await isLocked(set("c/new", ["v": 1]), backend))
    let addition = Mutation(
      key: key("c/out"), operation: .patch([:], FieldMask([])),
      transforms: [FieldTransform(path: FieldPath("v"), operation: .increment(-1))])
    #expect(try await isLocked(addition, backend))
    #expect(try await !isLocked(set("c/out", ["v": 3]), backend))
    #expect(try await !isLocked(set("d/new", ["v": 1]), backend))
  }

  @Test("A pessimistic transaction reads each document's latest version and commits")
  func present() async throws {
    let backend = try makeBackend(clock: clock)
    try await backend.commit(set("c/a", ["v": 1]), set("c/b", ["v": 1]))
    let transaction = try await begin(backend)
    #expect(try await read("c/a", in: transaction, backend) == [1])
    try await backend.commit(set("c/b", ["v": 2]))
    #expect(try await read("c/b", in: transaction, backend) == [2])

    _ = try await backend.commit([set("c/a", ["v": 3])], in: database, transaction: transaction)

    #expect(try await backend.read("c/a")["v"] == 3)
  }

  @Test("Of two transactions that wait for each other the younger one is aborted", arguments: [true, false])
  func deadlock(youngerCommitsFirst: Bool) async throws {
    let backend = try makeBackend(clock: clock)
    let (older, younger) = (try await begin(backend), try await begin(backend))
    for transaction in [older, younger] { _ = try await read("c/a", in: transaction, backend) }
    func commit(_ transaction: [UInt8]) async throws {
      let value: Value = transaction == older ? "older" : "younger"
      _ = try await backend.commit([set("c/a", ["v": value])], in: database, transaction: transaction)
    }
    if youngerCommitsFirst {
      await #expect(throws: LocalBackend.locked) { try await commit(younger) }
      try await commit(older)
      await #expect(throws: LocalBackend.contention) { try await commit(younger) }
    } else {
      await #expect(throws: LocalBackend.locked) { try await commit(older) }
      await #expect(throws: LocalBackend.contention) { try await commit(younger) }
      try await commit(older)
    }
    #expect(try await backend.read("c/a")["v"] == "older")
  }

  @Test("A chain of waiting transactions without a cycle aborts none of them")
  func chain() async throws {
    let backend = try makeBackend(clock: clock)
    let (first, second, third) = (try await begin(backend), try await begin(backend), try await begin(backend))
    _ = try await read("c/a", in: first, backend)
    _ = try await read("c/b", in: second, backend)
    _ = try await read("c/d", in: third, backend)
    func commit(_ path: String, _ transaction: [UInt8]) async throws {
      _ = try await backend.commit([set(path, ["v": 1])], in: database, transaction: transaction)
    }
    await #expect(throws: LocalBackend.locked) { try await commit("c/b", third) }
    await #expect(throws: LocalBackend.locked) { try await commit("c/a", second) }

    try await commit("c/x", first)
    try await commit("c/a", second)
    try await commit("c/b", third)
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Testing

@testable import FirestoreBackend

@Suite struct CommitTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    var name: String
    var mutation: Mutation
    var code: StatusCode
    var message: String
    var testDescription: String { name }
  }

  static let full = "projects/p/databases/(default)/documents/"

  @Test(
    "A failed precondition rejects the commit with the real backend's error",
    arguments: [
      Refusal(
        name: "create over existing", mutation: set("c/a", [:], .exists(false)), code: .alreadyExists,
        message: "Document already exists: \(full)c/a"),
      Refusal(
        name: "update of missing", mutation: patch("c/x", [:], mask: [], .exists(true)), code: .notFound,
        message: "No document to update: \(full)c/x"),
      Refusal(
        name: "delete of missing", mutation: delete("c/x", .exists(true)), code: .notFound,
        message: "No document to update: \(full)c/x"),
      Refusal(
        name: "older update time", mutation: set("c/a", [:], .updateTime(SnapshotVersion(microseconds: 999))),
        code: .failedPrecondition,
        message: "the stored version (1000000001) does not match the required base version (999): \(full)c/a"),
      Refusal(
        name: "newer update time", mutation: set("c/a", [:], .updateTime(SnapshotVersion(microseconds: 2_000_000_000))),
        code: .invalidArgument,
        message:
          "Invalid base version, it is greater than the stored version: 2000000000 > 1000000001: \(full)c/a"),
      Refusal(
        name: "update time of missing", mutation: delete("c/x", .updateTime(SnapshotVersion(microseconds: 5))),
        code: .failedPrecondition,
        message: "the stored version (0) does not match the required base version (5): \(full)c/x"),
      Refusal(
        name: "update time too precise",
        mutation: delete("c/a", .updateTime(SnapshotVersion(Timestamp(seconds: 1, nanoseconds: 1)))),
        code: .invalidArgument, message: "timestamp cannot have more than microseconds precision"),
      Refusal(
        name: "verify without precondition",
        mutation: Mutation(key: key("c/a"), operation: .verify, precondition: .none),
        code: .invalidArgument, message: "a verify must contain a precondition"),
    ])
  func refused(_ refusal: Refusal) async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", ["n": 1]))

    let error = await #expect(throws: RPCStatus.self) {
      try await backend.commit(set("c/b", ["n": 2]), refusal.mutation)
    }

    #expect(error == RPCStatus(refusal.code, refusal.message))
    #expect(try await backend.read("c/b").exists == false)
    #expect(try await backend.read("c/a")["n"] == 1)
  }

  @Test("A satisfied precondition allows the write")
  func satisfied() async throws {
    let backend = try makeBackend()
    let time = try await backend.commit(set("c/a", ["n": 1], .exists(false))).commitTime

    let second = try await backend.commit(set("c/a", ["n": 2], .updateTime(time)), delete("c/x", .exists(false)))

    #expect(try await backend.read("c/a")["n"] == 2)
    #expect(second.results.map(\.version) == [second.commitTime, second.commitTime])
  }

  @Test("Several writes to one document apply in order and create one version")
  func severalWrites() async throws {
    let backend = try makeBackend()

    let response = try await backend.commit(
      set("c/a", ["n": 1]), patch("c/a", ["m": 2], mask: ["m"]), transform("c/a", .increment(5), .increment(1)))

    let document = try await backend.read("c/a")
    #expect(document.data?.fields == ["n": 1, "m": 2, "v": 6])
    #expect(document.version == response.commitTime)
    #expect(response.results[2].transformResults == [5, 6])
  }

  @Test("All writes to one document in a commit have at most 500 transforms together")
  func transformLimit() async throws {
    let backend = try makeBackend()
    func transforms(_ range: Range<Int>) -> Mutation {
      Mutation(
        key: key("c/a"), operation: .patch(Fields(), FieldMask([])),
        transforms: range.map { FieldTransform(path: FieldPath("f\($0)"), operation: .increment(1)) })
    }
    try await backend.commit(transforms(0..<250), transforms(250..<500))
    let error = await #expect(throws: RPCStatus.self) {
      try await backend.commit(transforms(0..<250), transforms(250..<501))
    }
    #expect(error?.code == .invalidArgument && error?.message.contains("more than 500") == true)
  }

  @Test("Creating a document twice in one commit fails with invalid-argument")
  func insertTwice() async throws {
    let backend = try makeBackend()
    let error = await #expect(throws: RPCStatus.self) {
      try await backend.commit(set("c/a", [:], .exists(false)), set("c/a", [:], .exists(false)))
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test("A write that changes nothing keeps the update time but gets a new commit time")
  func noEffect() async throws {
    let backend = try makeBackend()
    let first = try await backend.commit(set("c/a", ["n": 1, "v": 3]))

    let second = try await backend.commit(set("c/a", ["n": 1, "v": 3]), transform("c/a", .maximum(2)))

    #expect(second.results.map(\.version) == [first.commitTime, first.commitTime])
    #expect(second.commitTime > first.commitTime)
    #expect(try await backend.read("c/a").version == first.commitTime)
    #expect(try await backend.readTime(of: database) == second.commitTime)
  }

  @Test("The create time survives overwrites, and a recreated document gets a new one")
  func createTime() async throws {
    let backend = try makeBackend()
    let first = try await backend.commit(set("c/a", ["n": 1])).commitTime
    let second = try await backend.commit(set("c/a", ["n": 2])).commitTime
    #expect(try await backend.read("c/a").createTime == first)
    #expect(try await backend.read("c/a").version == second)

    let third = try await backend.commit(delete("c/a"), set("c/a", ["n": 2])).commitTime

    #expect(try await backend.read("c/a").createTime == third)
    #expect(try await backend.read("c/a").version == third)
  }

  @Test("A verify write returns the current version and changes nothing")
  func verify() async throws {
    let backend = try makeBackend()
    let first = try await backend.commit(set("c/a", ["n": 1])).commitTime
    let response = try await backend.commit(
      Mutation(key: key("c/a"), operation: .verify, precondition: .updateTime(first)))
    #expect(response.results.map(\.version) == [first])
    #expect(try await backend.read("c/a").version == first)
  }

  @Test("An update sets masked fields that have values and deletes other masked fields")
  func masks() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", ["keep": 1, "gone": 2, "m": ["x": 1, "y": 2], "scalar": 3]))

    try await backend.commit(
      patch(
        "c/a", ["m": ["x": 9, "z": 0], "scalar": ["deep": 1], "unmasked": 7],
        mask: ["gone", "m.x", "m.y", "scalar.deep", "keep.nothing"]))

    #expect(try await backend.read("c/a").data?.fields == ["keep": 1, "m": ["x": 9], "scalar": ["deep": 1]])
  }

  @Test("An update with an empty mask creates a missing document without fields")
  func emptyMask() async throws {
    let backend = try makeBackend()
    try await backend.commit(patch("c/a", [:], mask: []))
    #expect(try await backend.read("c/a").data?.fields == [:])
  }

  struct Computation: Sendable, CustomTestStringConvertible {
    var stored: Value?
    var operation: FieldTransform.Operation
    var result: Value
    var stays: Value?
    var testDescription: String { "\(String(describing: stored)) \(operation)" }
    init(_ stored: Value?, _ operation: FieldTransform.Operation, _ result: Value, reported: Value? = nil) {
      self.stored = stored
      self.operation = operation
      self.result = result
      stays = reported
    }
  }

  @Test(
    "Transforms compute the same results as the real backend",
    arguments: [
      Computation(2, .increment(3), 5),
      Computation(.integer(.max), .increment(1), .integer(.max)),
      Computation(.integer(.min), .increment(-1), .integer(.min)),
      Computation(2, .increment(0.5), 2.5),
      Computation(1.5, .increment(1), 2.5),
      Computation("text", .increment(1), 1),
      Computation(nil, .increment(1.5), 1.5),
      Computation(3, .maximum(3.0), 3),
      Computation(3.0, .maximum(4), 4),
      Computation(3, .maximum(2.5), 3),
      Computation(3, .minimum(2.5), 2.5),
      Computation(.double(-0.0), .minimum(0), .double(-0.0)),
      Computation(3, .minimum(.double(.nan)), .double(.nan)),
      Computation(.double(.nan), .maximum(7), .double(.nan)),
      Computation("text", .minimum(7), 7),
      Computation(nil, .arrayUnion([2.0, 2, "a"]), [2.0, "a"], reported: .null),
      Computation([1, "a"], .arrayUnion([1.0, "b"]), [1, "a", "b"], reported: .null),
      Computation(["a", 1, 1.0, .null, "b"], .arrayRemove([1, .null]), ["a", "b"], reported: .null),
      Computation("text", .arrayRemove([1]), [], reported: .null),
      Computation(nil, .serverTimestamp, .timestamp(Timestamp(microseconds: 1_000_000_000))),
    ])
  func transforms(_ computation: Computation) async throws {
    let backend = try makeBackend()
    var fields: Fields = ["other": 1]
    fields["v"] = computation.stored
    try await backend.commit(set("c/a", fields))

    let response = try await backend.commit(transform("c/a", computation.operation))

    #expect(try await backend.read("c/a")["v"] == computation.result)
    #expect(response.results[0].transformResults == [computation.stays ?? computation.result])
  }

  @Test("An increment with an operand that is not a number is rejected")
  func notANumber() async throws {
    let backend = try makeBackend()
    let error = await #expect(throws: RPCStatus.self) { try await backend.commit(transform("c/a", .increment("1"))) }
    #expect(error == RPCStatus(.invalidArgument, "Input must be int64 or double."))
  }

  @Test("Databases are isolated and have separate versions")
  func databases() async throws {
    let backend = try makeBackend()
    let other = DatabaseID(project: "p", database: "other")
    try await backend.commit([set("c/a", ["n": 1])], in: database)
    try await backend.commit([set("c/a", ["n": 2]), set("d/b", [:])], in: other)

    #expect(try await backend.read("c/a")["n"] == 1)
    #expect(try await backend.lookup([key("c/a")], in: other).documents[0]["n"] == 2)
    #expect(try await backend.collectionIDs(below: .root, in: database) == ["c"])
    #expect(try await backend.collectionIDs(below: .root, in: other) == ["c", "d"])
  }

  @Test("Commit times strictly increase even if the clock stops or goes back")
  func clockGoesBack() async throws {
    let clock = TestClock(5_000)
    let backend = try makeBackend(clock: clock)
    var times: [Int64] = []
    for now: Int64 in [5_000, 5_000, 9_000, 100, 100, 9_001] {
      clock.set(now)
      times.append(try await backend.commit(set("c/a", ["now": .integer(now)])).commitTime.microseconds)
    }
    #expect(times == [5_001, 5_002, 9_000, 9_001, 9_002, 9_003])
  }

  @Test("A repeated request gets the same response and is not applied again")
  func replay() async throws {
    let backend = try makeBackend()
    let request = WriteRequestID(clientID: [1, 2], batchID: BatchID(7))
    let first = try await backend.commit([transform("c/a", .increment(1))], in: database, request: request)

    let again = try await backend.commit([transform("c/a", .increment(1))], in: database, request: request)
    let other = try await backend.commit(
      [transform("c/a", .increment(1))], in: database, request: WriteRequestID(clientID: [9], batchID: BatchID(7)))

    #expect(again.commitTime == first.commitTime)
    #expect(again.results.map(\.version) == first.results.map(\.version))
    #expect(again.results.map(\.transformResults) == [[1]])
    #expect(other.results.map(\.transformResults) == [[2]])
    #expect(try await backend.readTime(of: database) == other.commitTime)
  }

  @Test("Responses to a client's last batches are stored for retries, older responses not")
  func boundedReplay() async throws {
    let backend = try makeBackend()
    func send(_ batch: Int64) async throws -> Value? {
      let request = WriteRequestID(clientID: [1], batchID: BatchID(batch))
      return try await backend.commit([transform("c/a", .increment(1))], in: database, request: request)
        .results[0].transformResults.first
    }
    for batch: Int64 in 1...192 { #expect(try await send(batch) == .integer(batch)) }
    #expect(try await send(192) == 192)
    #expect(try await send(150) == 150)
    #expect(try await send(3) == 193)
  }

  @Test("A batch with a reused number but other contents is applied")
  func otherContents() async throws {
    let backend = try makeBackend()
    let request = WriteRequestID(clientID: [1, 2], batchID: BatchID(7))
    try await backend.commit(set("c/a", ["v": 1]), request: request)

    let other = try await backend.commit(set("c/b", ["v": 2]), request: request)
    let again = try await backend.commit(set("c/b", ["v": 2]), request: request)
    try await backend.commit(set("c/a", ["v": 1]), request: request)

    #expect(try await backend.read("c/a")["v"] == 1)
    #expect(try await backend.read("c/b")["v"] == 2)
    #expect(again.commitTime == other.commitTime)
    #expect(try await backend.readTime(of: database) == other.commitTime)
  }

  @Test("Stored responses expire; responses to caches are stored longer than to streams")
  func answersAge() async throws {
    let clock = TestClock()
    let limits = AppliedRequests.Limits(rows: 3, streamAge: 1_000_000, cacheAge: 100_000_000, slice: 0)
    let backend = try makeBackend(clock: clock, requests: limits)
    func isKnown(_ client: UInt8, _ sender: WriteRequestID.Sender) async throws -> Bool {
      let id = WriteRequestID(clientID: [client], batchID: BatchID(1), sender: sender)
      let before = try await backend.readTime(of: database)
      return try await backend.commit(set("c/\(client)", [:]), request: id).commitTime <= before
    }
    for client: UInt8 in 1...5 { #expect(try await !isKnown(client, client == 1 ? .cache : .stream)) }
    clock.advance(500_000)
    #expect(try await isKnown(2, .stream))
    clock.advance(1_000_000)
    #expect(try await !isKnown(6, .stream))

    // Each that is not known any more is remembered anew, and takes the place of an older one.
    #expect(try await isKnown(1, .cache))
    #expect(try await isKnown(5, .stream))
    #expect(try await isKnown(4, .stream))
    #expect(try await !isKnown(2, .stream))
    clock.advance(200_000_000)
    #expect(try await !isKnown(7, .stream))
    #expect(try await !isKnown(1, .cache))
  }

  @Test("The number of stored responses to streams is limited, even across restarts")
  func answersAreBounded() async throws {
    let directory = TemporaryFolder()
    let limits = AppliedRequests.Limits(rows: 20, streamRows: 40, slice: 8)
    for start in 0..<3 {
      let backend = try makeBackend(.directory(directory.path), requests: limits)
      for stream in 0..<60 {
        let id = WriteRequestID(clientID: [UInt8(start), UInt8(stream)], batchID: BatchID(1), sender: .stream)
        try await backend.commit(set("c/a", ["v": .integer(Int64(stream))]), request: id)
      }
      #expect(try await backend.answeredRequests <= 40 + 8 + 1)
    }
  }
}

extension LocalBackend {
  @discardableResult
  fileprivate func commit(_ mutation: Mutation, request: WriteRequestID) throws(RPCStatus) -> CommitResponse {
    try commit([mutation], in: database, request: request)
  }

  fileprivate var answeredRequests: Int64 {
    get throws {
      try log.file.access { connection throws(StoreError) in
        try connection.first("SELECT count(*) FROM applied_requests") { $0.integer(0) } ?? 0
      }
    }
  }
}

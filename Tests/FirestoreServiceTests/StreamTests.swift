// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import ServiceTesting
import Testing

@testable import FirestoreService

@Suite("Listen and Write streams")
struct StreamTests {
  /// A stream that the test speaks on.
  private struct Conversation: Sendable {
    let sent = Sent()
    let requests: AsyncStream<[UInt8]>
    let say: AsyncStream<[UInt8]>.Continuation
    init() { (requests, say) = AsyncStream.makeStream(of: [UInt8].self) }
  }

  private func listen<Result: Sendable>(
    _ service: FirestoreService, _ body: @Sendable (Conversation) async throws -> Result
  ) async throws -> Result {
    let conversation = Conversation()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await service.listen(conversation.requests) { conversation.sent.append(contentsOf: $0) } }
      let result = try await body(conversation)
      conversation.say.finish()
      try await group.waitForAll()
      return result
    }
  }

  private func add(_ id: UInt64, _ collection: String, token: [UInt8] = [], expected: UInt64? = nil) -> [UInt8] {
    bytes { writer in
      writer.field(1, string: database)
      writer.field(2) { writer in
        writer.field(2) { writer in
          writer.field(1, string: root)
          writer.query(2, collection)
        }
        writer.field(5, varint: id)
        if !token.isEmpty { writer.field(4, bytes: token) }
        if let expected { writer.field(12) { $0.field(1, varint: expected) } }
      }
    }
  }

  /// What a `ListenResponse` says, in short.
  private func describe(_ message: Message) -> String {
    if let change = message[2] {
      let kind = ["NO_CHANGE", "ADD", "REMOVE", "CURRENT", "RESET"][Int(change.integer(1) ?? 0)]
      let ids = (change.bytes(2) ?? []).map { " \($0)" }.joined()
      return kind + ids + (change[3].map { ": \($0.integer(1) ?? 0)" } ?? "")
    }
    if let change = message[3] {
      let (updated, removed) = (change.bytes(5) ?? [], change.bytes(6) ?? [])
      return "\(change[1]?.path ?? "") +\(updated) -\(removed)"
    }
    if let deletion = message[4] { return "\(deletion.path) deleted -\(deletion.bytes(6) ?? [])" }
    if let filter = message[5] { return "filter \(filter.integer(2) ?? 0)" }
    return "?"
  }

  private func hear(_ count: Int, _ conversation: Conversation) async throws -> [String] {
    var heard: [String] = []
    for _ in 0..<count { heard.append(describe(try await conversation.sent.next())) }
    return heard
  }

  @Test("A target is added, read, marked current and then receives exactly the changes")
  func preciseChanges() async throws {
    let service = try makeService()
    try await service.set("c/a", ["n": .integer(1)])
    try await listen(service) { conversation in
      conversation.say.yield(add(2, "c"))
      #expect(try await hear(4, conversation) == ["ADD 2", "c/a +[2] -[]", "CURRENT 2", "NO_CHANGE"])
      try await service.set("c/b", [:])
      #expect(try await hear(2, conversation) == ["c/b +[2] -[]", "NO_CHANGE"])
      try await service.set("other/x", [:])
      _ = try await service.answer(
        .deleteDocument, bytes { $0.field(1, string: root + "/c/a") })
      #expect(try await hear(2, conversation) == ["c/a deleted -[2]", "NO_CHANGE"])
    }
  }

  @Test("A document in several targets of a stream is sent once")
  func severalTargets() async throws {
    let service = try makeService()
    try await listen(service) { conversation in
      conversation.say.yield(add(2, "c"))
      _ = try await hear(3, conversation)
      conversation.say.yield(add(4, "c"))
      #expect(try await hear(3, conversation) == ["ADD 4", "CURRENT 4", "NO_CHANGE"])
      try await service.set("c/a", [:])
      #expect(try await hear(2, conversation) == ["c/a +[2, 4] -[]", "NO_CHANGE"])
      conversation.say.yield(
        bytes { writer in
          writer.field(1, string: database)
          writer.field(3, varint: 2)
        })
      #expect(try await hear(1, conversation) == ["REMOVE 2"])
    }
  }

  @Test("A reset has the time of the last version that was sent completely")
  func resetTime() async throws {
    let service = try makeService()
    try await service.set("c/a", [:])
    try await listen(service) { conversation in
      conversation.say.yield(add(2, "c", token: [1, 2, 3]))
      var times: [String: [UInt8]] = [:]
      for _ in 0..<5 {
        let message = try await conversation.sent.next()
        times[describe(message)] = message[2]?.bytes(6)
      }
      #expect(times.keys.sorted() == ["CURRENT 2", "NO_CHANGE", "RESET 2"])
      #expect(Set(times.values).count == 1)
    }
  }

  @Test("A documents target receives messages for exactly its documents")
  func severalDocuments() async throws {
    let service = try makeService()
    try await service.set("c/a", [:])
    try await listen(service) { conversation in
      conversation.say.yield(
        bytes { writer in
          writer.field(1, string: database)
          writer.field(2) { writer in
            writer.field(3) { writer in
              for path in ["c/a", "d/b", "c/a"] { writer.field(2, string: root + "/" + path) }
            }
            writer.field(5, varint: 2)
          }
        })
      let before = try await hear(5, conversation)
      #expect(before == ["ADD 2", "c/a +[2] -[]", "d/b deleted -[2]", "CURRENT 2", "NO_CHANGE"])
      try await service.set("c/other", [:])
      try await service.set("d/b", [:])
      let added = try await hear(2, conversation)
      #expect(added == ["d/b +[2] -[]", "NO_CHANGE"])
      _ = try await service.answer(.deleteDocument, bytes { $0.field(1, string: root + "/c/a") })
      let deleted = try await hear(2, conversation)
      #expect(deleted == ["c/a deleted -[2]", "NO_CHANGE"])
    }
  }

  @Test("A query that cannot be listened to ends only its target")
  func invalidTarget() async throws {
    let service = try makeService()
    try await listen(service) { conversation in
      conversation.say.yield(add(2, "a/b"))
      let refusal = try await hear(2, conversation)
      #expect(refusal == ["ADD 2", "REMOVE 2: 3"])
      conversation.say.yield(add(2, "c"))
      let acceptance = try await hear(3, conversation)
      #expect(acceptance == ["ADD 2", "CURRENT 2", "NO_CHANGE"])
    }
  }

  @Test("After a resume token only later changes are sent, plus a filter if counts differ")
  func resume() async throws {
    let service = try makeService()
    for path in ["c/a", "c/b", "c/c"] { try await service.set(path, [:]) }
    let token = try await listen(service) { conversation in
      conversation.say.yield(add(2, "c"))
      var last: [UInt8] = []
      for _ in 0..<6 { last = try await conversation.sent.next()[2]?.bytes(4) ?? last }
      return last
    }
    try await service.set("c/b", ["n": .integer(2)])
    try await listen(service) { conversation in
      conversation.say.yield(add(2, "c", token: token, expected: 4))
      let heard = try await hear(5, conversation)
      #expect(heard == ["ADD 2", "c/b +[2] -[]", "filter 3", "CURRENT 2", "NO_CHANGE"])
    }
  }

  @Test("A target id in use ends the stream with invalid-argument")
  func idInUse() async throws {
    let service = try makeService()
    let conversation = Conversation()
    conversation.say.yield(add(2, "c"))
    conversation.say.yield(add(2, "d"))
    await #expect(throws: RPCStatus(.invalidArgument, "Target id 2 is already in use on this stream.")) {
      try await service.listen(conversation.requests) { conversation.sent.append(contentsOf: $0) }
    }
  }

  private func write(_ service: FirestoreService, _ requests: [[UInt8]]) async throws -> [Message] {
    let sent = Sent()
    let (stream, say) = AsyncStream.makeStream(of: [UInt8].self)
    for request in requests { say.yield(request) }
    say.finish()
    try await service.write(stream) { sent.append(contentsOf: $0) }
    return try sent.messages
  }

  private let handshake = bytes { $0.field(1, string: database) }

  @Test("A write stream answers the handshake and each batch in order")
  func writeStream() async throws {
    let service = try makeService()
    let answers = try await write(
      service, [handshake, bytes { $0.set("c/a", [:], as: 3) }, bytes { $0.field(4, bytes: [1]) }])
    #expect(answers.map { $0.has(1) } == [true, false, false])
    #expect(answers.map { $0.all(3).count } == [0, 1, 0])
    #expect(answers.allSatisfy { $0.has(2) })
  }

  @Test("A batch resent on a resumed stream is answered but not applied twice")
  func writeResumption() async throws {
    let service = try makeService()
    let increment = bytes { writer in
      writer.field(3) { writer in
        writer.field(1) { $0.document("c/a", [:]) }
        writer.field(3) { _ in }
        writer.field(7) { writer in
          writer.field(1, string: "n")
          writer.field(3) { $0.value(.integer(1)) }
        }
      }
    }
    let first = try await write(service, [handshake, increment])
    let resumed = bytes { writer in
      writer.field(1, string: database)
      writer.field(2, string: first[0].text(1) ?? "")
      writer.field(4, bytes: first[0].bytes(2) ?? [])
    }
    let again = try await write(service, [resumed, increment, increment])
    #expect(again[1].bytes(4) == first[1].bytes(4))
    let document = try Message(
      await service.answer(.getDocument, bytes { $0.field(1, string: root + "/c/a") }))
    #expect(document.fields["n"] == .integer(2))
  }

  @Test("A failing batch ends the stream, and later batches are not applied")
  func failingBatch() async throws {
    let service = try makeService()
    let failing = bytes { writer in
      writer.field(3) { writer in
        writer.field(2, string: root + "/c/a")
        writer.field(4) { $0.field(1, boolean: true) }
      }
    }
    await #expect(throws: RPCStatus(.notFound, "No document to update: \(root)/c/a")) {
      _ = try await write(service, [handshake, failing, bytes { $0.set("c/b", [:], as: 3) }])
    }
    await #expect(throws: RPCStatus.self) {
      _ = try await service.answer(.getDocument, bytes { $0.field(1, string: root + "/c/b") })
    }
  }
}

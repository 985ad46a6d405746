// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import NIOCore
import NIOHPACK
import NIOHTTP2
import Synchronization
import Testing

@testable import FirestoreGRPC

/// What a peer may do to a call on HTTP/2, and what becomes of the call.
@Suite("HTTP/2 calls", .timeLimit(.minutes(15)))
struct TransportTests {
  /// The collections that a peer with this script lists, or why it lists none.
  private func collections(
    connections expected: Int? = nil, _ script: @escaping ScriptedPeer.Script
  ) async throws -> Result<[String], RPCStatus> {
    var result: Result<[String], RPCStatus> = .failure(RPCStatus(.unknown, "not asked"))
    try await ScriptedPeer.run(script) { endpoint, peer in
      let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
      do throws(RPCStatus) { result = .success(try await datastore.listCollectionIDs(below: .root)) } catch {
        result = .failure(error)
      }
      await datastore.close()
      if let expected { #expect(peer.connections.load(ordering: .relaxed) == expected) }
    }
    return result
  }

  /// A ListCollectionIds response with the collection "c", as a message of gRPC.
  private static let answer: [UInt8] = [0, 0, 0, 0, 3, 0x0a, 1, UInt8(ascii: "c")]

  private static func answered(_ stream: HTTP2StreamID) -> [HTTP2Frame] {
    [.begin(stream), .data(stream, answer), .end(stream)]
  }

  @Test("A message that arrives byte by byte is delivered as one message")
  func pieces() async throws {
    let result = try await collections { _, stream in
      [.begin(stream)] + Self.answer.map { .data(stream, [$0]) } + [.end(stream)]
    }
    #expect(result == .success(["c"]))
  }

  @Test("An unprocessed call is retried, on a new connection if needed")
  func repetition() async throws {
    let refused = try await collections { call, stream in
      call == 0 ? [.reset(stream, .refusedStream)] : Self.answered(stream)
    }
    #expect(refused == .success(["c"]))
    let farewell = try await collections(connections: 2) { call, stream in
      call == 0 ? [.goAway(after: .rootStream)] : Self.answered(stream)
    }
    #expect(farewell == .success(["c"]))
  }

  @Test("A completed call sends no RESET frame, which servers may count as an attack")
  func manyCalls() async throws {
    try await ScriptedPeer.run { _, stream in
      Self.answered(stream)
    } _: { endpoint, peer in
      let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
      // Side by side: one after the other, each would wait for its turn beside all other tests.
      _ = try await datastore.listCollectionIDs(below: .root)
      for _ in 0..<10 {
        try await withThrowingTaskGroup { group in
          for _ in 0..<50 {
            group.addTask { _ = try await datastore.listCollectionIDs(below: .root) }
          }
          try await group.waitForAll()
        }
      }
      #expect(peer.connections.load(ordering: .relaxed) == 1)
      #expect(peer.resets.load(ordering: .relaxed) == 0)
      await datastore.close()
    }
  }

  @Test("An unanswered write is reported as possibly applied, but a refused write is not")
  func unansweredWrite() async throws {
    for (code, isKnown) in [(HTTP2ErrorCode.internalError, false), (.refusedStream, true)] {
      try await ScriptedPeer.run { _, stream in
        [.reset(stream, code)]
      } _: { endpoint, _ in
        let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
        let write = Mutation(key: DocumentKey(unchecked: ResourcePath("c/d")), operation: .delete)
        let status = await #expect(throws: RPCStatus.self) { try await datastore.commit([write]) }
        #expect(status?.message.contains("may have been applied") == !isKnown, "\(status?.message ?? "")")
        #expect(status?.message.contains("Try again") == false, "\(status?.message ?? "")")
        await datastore.close()
      }
    }
  }

  @Test("A server that refuses every attempt is unavailable after limited retries")
  func refusal() async throws {
    guard case .failure(let status) = try await collections({ _, stream in [.reset(stream, .refusedStream)] }) else {
      return #expect(Bool(false), "An answer came.")
    }
    #expect(status.code == .unavailable)
  }

  @Test("After GOAWAY open calls finish, and the next call uses a new connection")
  func farewell() async throws {
    try await ScriptedPeer.run { call, stream in
      call == 0 ? [.goAway(after: stream)] + Self.answered(stream) : Self.answered(stream)
    } _: { endpoint, peer in
      let datastore = GRPCDatastore(endpoint, database: Samples.database, credentials: .emulatorOwner)
      for _ in 0..<2 {
        let ids = try await datastore.listCollectionIDs(below: .root)
        #expect(ids == ["c"])
      }
      #expect(peer.connections.load(ordering: .relaxed) == 2)
      await datastore.close()
    }
  }

  @Test(
    "A reset call has the status code that gRPC specifies",
    arguments: [
      (HTTP2ErrorCode.cancel, StatusCode.cancelled), (.enhanceYourCalm, .resourceExhausted),
      (.inadequateSecurity, .permissionDenied), (.internalError, .internal),
    ])
  func resets(_ code: HTTP2ErrorCode, _ expected: StatusCode) async throws {
    let result = try await collections { _, stream in [.begin(stream), .reset(stream, code)] }
    guard case .failure(let status) = result else { return #expect(Bool(false), "An answer came.") }
    #expect(status.code == expected, "\(status)")
  }

  @Test(
    "An invalid gRPC response ends the call with the reason",
    arguments: [
      ("compressed", [1, 0, 0, 0, 1, 7], StatusCode.internal),
      ("too large", [0, 2, 0, 0, 0], .resourceExhausted),
      ("without a status", [0, 0, 0, 0, 0], .internal), ("0 responses", [], .internal),
    ] as [(String, [UInt8], StatusCode)])
  func wrongAnswers(_ words: String, _ bytes: [UInt8], _ code: StatusCode) async throws {
    let result = try await collections { _, stream in
      bytes.isEmpty ? [.begin(stream), .end(stream)] : [.begin(stream), .data(stream, bytes, isLast: true)]
    }
    guard case .failure(let status) = result else { return #expect(Bool(false), "An answer came.") }
    #expect(status.code == code && status.message.contains(words), "\(status)")
  }

  @Test("A call ends at its deadline even if the peer is silent")
  func deadline() async throws {
    try await ScriptedPeer.run({ _, _ in [] }) { endpoint, _ in
      let connection = Connection(to: endpoint, database: Samples.database)
      let call = try await connection.call(RequestHead(method: .runQuery, timeout: .milliseconds(1)), [])
      let failure = await #expect(throws: TransportFailure.self) { _ = try await call.stream.next() }
      guard case .overdue? = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
      await connection.close()
    }
  }

  @Test(
    "A percent-encoded error message decodes to the original text",
    arguments: ["because 100 % of ü", "a\nb", "%", "%4", ""])
  func messages(_ text: String) {
    let encoded = text.utf8.map { 0x20...0x7e ~= $0 && $0 != 0x25 ? String(UnicodeScalar($0)) : "%" + hex($0) }
    #expect(ResponseHead.percentDecoded(encoded.joined()) == text)
    // What is no encoding stays as it is.
    #expect(ResponseHead.percentDecoded("100 %") == "100 %")
  }

  private func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.count == 1 ? "0" + digits : digits
  }

  @Test("A full inbox accepts no more messages until its consumer takes them")
  func pressure() async throws {
    let inbox = ResponseInbox()
    var count = 0
    repeat { count += 1 } while inbox.put([ByteBuffer(repeating: 7, count: 100_000)])
    #expect((2...20).contains(count))
    inbox.end(.success(()))
    let taken = try await inbox.take()
    #expect(taken?.messages.count == count && taken?.isReadOwed == true)
    let end = try await inbox.take()
    #expect(end == nil)
  }
}

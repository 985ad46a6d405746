// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import ServiceTesting
import Testing

@testable import FirestoreService

@Suite("Unknown request fields")
struct UnknownFieldTests {
  @Test("Unknown fields of any type are skipped in any position")
  func unknownFields() async throws {
    let service = try makeService()
    func unknown(_ writer: inout WireWriter) {
      writer.field(201, varint: 7)
      writer.field(202, string: "later")
      writer.field(203, double: 1.5)
      writer.field(204) { $0.field(1, string: "nested") }
    }
    _ = try await service.answer(
      .commit,
      bytes { writer in
        unknown(&writer)
        writer.field(1, string: database)
        writer.field(2) { writer in
          unknown(&writer)
          writer.field(1) { writer in
            writer.document("c/a", ["n": .integer(1)])
            unknown(&writer)
          }
        }
        unknown(&writer)
      })
    let answer = try await service.answer(
      .getDocument,
      bytes { writer in
        writer.field(1, string: root + "/c/a")
        unknown(&writer)
      })
    #expect(try Message(answer).fields == ["n": .integer(1)])
  }

  @Test("A write request with an id is applied only once, even on another stream")
  func labelledWrites() async throws {
    let service = try makeService()
    func increment(label: String) -> [UInt8] {
      bytes { writer in
        writer.field(3) { writer in
          writer.field(1) { $0.document("c/a", [:]) }
          writer.field(3) { _ in }
          writer.field(7) { writer in
            writer.field(1, string: "n")
            writer.field(3) { $0.value(.integer(1)) }
          }
        }
        writer.field(5) { writer in
          writer.field(1, string: "hearth-write")
          writer.field(2, string: label)
        }
      }
    }
    for label in ["0a0b-1", "0a0b-1", "0a0b-2", "no id", "no id", "0a0b-"] {
      let sent = Sent()
      let (requests, say) = AsyncStream.makeStream(of: [UInt8].self)
      say.yield(bytes { $0.field(1, string: database) })
      say.yield(increment(label: label))
      say.finish()
      try await service.write(requests) { sent.append(contentsOf: $0) }
      #expect(try sent.messages.count == 2)
    }
    let document = try Message(await service.answer(.getDocument, bytes { $0.field(1, string: root + "/c/a") }))
    // Two batches once, and three without an id as often as they came.
    #expect(document.fields["n"] == .integer(5))
  }

  @Test("A stream token from the future is rejected")
  func impossibleToken() async throws {
    let service = try makeService()
    for token in [[UInt8](repeating: 0xFF, count: 8), [0x7F] + [UInt8](repeating: 0xFF, count: 7)] {
      let (requests, say) = AsyncStream.makeStream(of: [UInt8].self)
      say.yield(
        bytes { writer in
          writer.field(1, string: database)
          writer.field(2, string: String(repeating: "ab", count: 16))
          writer.field(4, bytes: token)
        })
      say.finish()
      await #expect(throws: RPCStatus(.invalidArgument, "The stream to resume does not exist on this server.")) {
        try await service.write(requests) { _ in }
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import ServiceTesting
import Testing

@testable import FirestoreService

@Suite struct TimestampRangeTests {
  private static let impossible = [Timestamp(seconds: .min), Timestamp(seconds: 253_402_300_800)]

  private static func write(_ value: [UInt8]) -> [UInt8] {
    bytes { writer in
      writer.field(1, string: database)
      writer.field(2) { writer in
        writer.field(1) { writer in
          writer.field(1, string: root + "/c/a")
          writer.field(2) { entry in
            entry.field(1, string: "t")
            entry.field(2, bytes: value)
          }
        }
      }
    }
  }

  @Test("A time outside Firestore's range is rejected anywhere in a request", arguments: impossible)
  func refused(_ time: Timestamp) async throws {
    let service = try makeService()
    let value = bytes { $0.field(10, timestamp: time) }
    let precondition = bytes { writer in
      writer.field(1, string: root + "/c/a")
      writer.field(2) { $0.field(2, timestamp: time) }
    }
    let requests: [(FirestoreService.Method, [UInt8])] = [
      (.commit, Self.write(value)),
      (.commit, Self.write(bytes { writer in writer.field(9) { $0.field(1, bytes: value) } })),
      (.deleteDocument, precondition),
      (
        .getDocument,
        bytes { writer in
          writer.field(1, string: root + "/c/a")
          writer.field(5, timestamp: time)
        }
      ),
      (
        .beginTransaction,
        bytes { writer in
          writer.field(1, string: database)
          writer.field(2) { $0.field(2) { $0.field(2, timestamp: time) } }
        }
      ),
      (
        .runQuery,
        bytes { writer in
          writer.field(1, string: root)
          writer.query(2, "c") { writer in
            writer.field(4) { $0.field(1) { $0.field(2, string: "t") } }
            writer.field(7) { $0.field(1, bytes: value) }
          }
        }
      ),
    ]
    for (method, request) in requests {
      await #expect(throws: RPCStatus(.invalidArgument, time.objection), "\(method)") {
        try await service.answer(method, request)
      }
    }
  }

  @Test("The earliest and latest valid times are accepted", arguments: [Timestamp.earliest, .latest])
  func limits(_ time: Timestamp) async throws {
    let service = try makeService()
    try await service.answer(.commit, Self.write(bytes { $0.field(10, timestamp: time) }))
    let document = try Message(await service.answer(.getDocument, bytes { $0.field(1, string: root + "/c/a") }))
    // The backend keeps microseconds.
    let kept = Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds / 1_000 * 1_000)
    #expect(document.fields == ["t": .timestamp(kept)])
  }
}

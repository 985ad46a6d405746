// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import SeededRandom
import ServiceTesting
import Testing

@testable import FirestoreService

@Suite("Invalid request bytes")
struct HostileBytesTests {
  /// Requests that are fine, to be cut and bent.
  private var samples: [[UInt8]] {
    [
      bytes { writer in
        writer.field(1, string: database)
        writer.set("c/a", ["n": .array([.map(["k": .double(2)]), .timestamp(Timestamp(seconds: 1))])])
        writer.field(3) { $0.field(1, string: "x") }
      },
      bytes { writer in
        writer.field(1, string: root)
        writer.query(2, "c") { writer in
          writer.field(3) { $0.field(3) { $0.field(1, varint: 2) } }
          writer.field(5) { $0.field(1, varint: 3) }
        }
      },
      bytes { writer in
        writer.field(1, string: database)
        writer.field(2) { writer in
          writer.field(2) { writer in
            writer.field(1, string: root)
            writer.query(2, "c")
          }
          writer.field(5, varint: 2)
        }
      },
    ]
  }

  private func mutated(_ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = samples.randomElement(using: &generator) ?? []
    let position = Int.random(in: 0...bytes.count, using: &generator)
    switch UInt8.random(in: 0..<4, using: &generator) {
    case 0: bytes.removeLast(position)
    case 1: bytes = (0..<position).map { _ in .random(in: 0...255, using: &generator) }
    case 2: bytes.insert(.random(in: 0...255, using: &generator), at: position)
    default:
      for _ in 0..<3 {
        bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
      }
    }
    return bytes
  }

  @Test("10,000 mutated, truncated and random requests get a response or an error")
  func randomRequests() async throws {
    let service = try makeService()
    var generator = SeededGenerator(seed: 7)
    var refused = 0
    for round in 0..<10_000 {
      let request = mutated(&generator)
      do {
        switch round % 16 {
        case let index where index < FirestoreService.Method.allCases.count:
          try await service.answer(FirestoreService.Method.allCases[index], request) { _ in }
        case 14: try await service.listen(Self.stream(request)) { _ in }
        default: try await service.write(Self.stream(request)) { _ in }
        }
      } catch let status as RPCStatus {
        #expect(status.code != .internal && status.code != .unknown, "round \(round): \(status)")
        refused += 1
      }
    }
    #expect(refused > 5_000)
    #expect(await service.backend.watchCount == 0)
  }

  private static func stream(_ request: [UInt8]) -> AsyncStream<[UInt8]> {
    AsyncStream { continuation in
      continuation.yield(request)
      continuation.finish()
    }
  }

  @Test("Values and filters nested too deeply are rejected without recursion")
  func nesting() async throws {
    let service = try makeService()
    var value = bytes { $0.field(2, varint: 1) }
    for _ in 0..<2_000 { value = bytes { writer in writer.field(9) { $0.field(1, bytes: value) } } }
    let deep = value
    await #expect(throws: RPCStatus.self) {
      _ = try await service.answer(
        .commit,
        bytes { writer in
          writer.field(1, string: database)
          writer.field(2) { writer in
            writer.field(1) { writer in
              writer.field(1, string: root + "/c/a")
              writer.field(2) { entry in
                entry.field(1, string: "v")
                entry.field(2, bytes: deep)
              }
            }
          }
        })
    }
    var filter: [UInt8] = []
    for _ in 0..<2_000 {
      let inner = filter
      filter = bytes { writer in
        writer.field(1) { writer in
          writer.field(1, varint: 1)
          writer.field(2, bytes: inner)
        }
      }
    }
    let where_ = filter
    await #expect(throws: RPCStatus(.invalidArgument, "Filters are nested more than 64 levels deep.")) {
      _ = try await service.messages(
        .runQuery,
        bytes { writer in
          writer.field(1, string: root)
          writer.query(2, "c") { $0.field(3, bytes: where_) }
        })
    }
  }
}

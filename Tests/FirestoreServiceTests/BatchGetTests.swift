// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import ServiceTesting
import Synchronization
import Testing

@testable import FirestoreService

@Suite("Batch reads")
struct BatchGetTests {
  private static let count = 30

  private func request(_ names: [String]) -> [UInt8] {
    bytes { writer in
      writer.field(1, string: database)
      for name in names { writer.field(2, string: root + "/c/" + name) }
    }
  }

  @Test(
    "A batch get reads one version and returns existing documents first",
    arguments: [10, 40_000])
  func oneTime(size: Int) async throws {
    let service = try makeService()
    let text = Value.string(String(repeating: "x", count: size))
    for number in 0..<Self.count { try await service.set("c/\(number)", ["n": .integer(Int64(number)), "text": text]) }

    let sent = Mutex<[[UInt8]]>([])
    try await service.answer(.batchGetDocuments, request(["missing"] + (0..<Self.count).map(String.init))) { batch in
      let isFirst = sent.withLock { all in
        all += batch
        return all.count == batch.count
      }
      guard isFirst else { return }
      for number in 0..<Self.count { try await service.set("c/\(number)", ["n": .integer(-1)]) }
    }

    let messages = try sent.withLock { $0 }.map { try Message($0) }
    #expect(messages.count == Self.count + 1)
    #expect(messages.dropLast().map { $0[1]?.fields["n"] } == (0..<Self.count).map { .integer(Int64($0)) })
    #expect(messages.last?.text(2) == root + "/c/missing")
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestoreREST

@Suite("Invalid request bodies and addresses")
struct HostileBodyTests {
  private static let samples = [
    #"{"writes":[{"update":{"name":"projects/p/databases/(default)/documents/c/a","fields":{"n":{"arrayValue":"#
      + #"{"values":[{"mapValue":{"fields":{"k":{"doubleValue":2.5e3}}}},{"timestampValue":"2020-01-01T00:00:"#
      + #"00Z"}]}}}},"currentDocument":{"exists":false}}],"transaction":"AAEC"}"#,
    #"{"structuredQuery":{"from":[{"collectionId":"c"}],"where":{"compositeFilter":{"op":"AND","filters":"#
      + #"[{"unaryFilter":{"op":"IS_NULL","field":{"fieldPath":"a"}}}]}},"limit":3,"startAt":{"values":"#
      + #"[{"bytesValue":"-_8="}],"before":true}}}"#,
    #"{"documents":["projects/p/databases/(default)/documents/c/a"],"newTransaction":{"readOnly":{"readTime":"#
      + #""2020-01-01T00:00:00Z"}}}"#,
  ]
  private static let addresses = [
    ("POST", ":commit"), ("POST", ":batchWrite"), ("POST", ":runQuery"), ("POST", ":batchGet"),
    ("POST", "/c?documentId=%C3"),
    ("PATCH", "/c/a?updateMask.fieldPaths=a&currentDocument.exists=true&a.b.c=1&a=2"),
    ("GET", "/c?pageSize=-1&orderBy=%00"),
    ("POST", ":partitionQuery?$alt=json"), ("POST", ":runAggregationQuery"),
  ]

  private func mutated(_ text: String, _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = Array(text.utf8)
    for _ in 0..<Int.random(in: 0...4, using: &generator) where !bytes.isEmpty {
      let index = Int.random(in: bytes.indices, using: &generator)
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 1: bytes.remove(at: index)
      case 2:
        bytes.insert(
          contentsOf: Array(generator.pick(["{", "[", "\"", "null", "1e999", "\\ud800", ":", "-"]).utf8), at: index)
      case 3: bytes.removeSubrange(index...)
      default:
        let end = Int.random(in: index...bytes.count, using: &generator)
        bytes.insert(contentsOf: bytes[index..<end], at: index)
      }
    }
    return bytes
  }

  @Test("Each mutated request gets a result or a client error status")
  func mutations() async throws {
    let service = try makeService()
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    var counts: [Int: Int] = [:]
    for _ in 0..<TestSize.count(5_000, full: 10_000) {
      let (verb, path) = generator.pick(Self.addresses)
      let body = mutated(generator.pick(Self.samples), &generator)
      let target = String(decoding: mutated(path, &generator), as: UTF8.self)
      let answer = await ask(
        service, verb, Bool.random(using: &generator) ? path : target, String(decoding: body, as: UTF8.self))
      counts[answer.status, default: 0] += 1
      #expect([200, 400, 404, 409, 501].contains(answer.status), "seed \(seed): \(answer.body)")
    }
    #expect(counts[200, default: 0] > 0 && counts[400, default: 0] > 0, "seed \(seed): \(counts)")
  }

  @Test("A request body with unlimited nesting is rejected")
  func depth() async throws {
    let service = try makeService()
    for text in ["[", #"{"a":"#, #"{"fields":{"a":{"mapValue":"#] {
      #expect(await ask(service, "PATCH", "/c/a", String(repeating: text, count: 100_000)).status == 400)
    }
  }
}

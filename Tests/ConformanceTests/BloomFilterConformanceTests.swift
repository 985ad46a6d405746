// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreJSON
import FirestoreProtocol
import FirestoreSync
import FirestoreTesting
import Foundation
import Testing

/// The real backend's bloom filters and what they must say (PROTOCOL §2.5).
@Suite(.enabled(if: SpecFiles.areThere(for: "the conformance of bloom filters")))
struct BloomFilterConformanceTests {
  struct Golden: Sendable, CustomTestStringConvertible {
    /// `<count>_<rate>`, where the rate's digits follow the point, except for 1.
    var testDescription: String
    var count: Int
    var falsePositiveRate: Double

    fileprivate init(_ name: String) throws {
      testDescription = name
      let parts = name.split(separator: "_")
      count = try #require(Int(parts[0]))
      falsePositiveRate = try #require(Double(parts[1] == "1" ? "1" : "0." + parts[1]))
    }

    fileprivate func bits() throws -> BloomFilterBits {
      let json = try SpecFiles.json("\(Self.prefix)\(testDescription)\(Self.suffix)", in: "bloom")
      let bitmap = try #require(json["bits"]?["bitmap"]?.string)
      return BloomFilterBits(
        bitmap: [UInt8](try #require(Data(base64Encoded: bitmap))),
        padding: Int(json["bits"]?["padding"]?.integer ?? 0),
        hashCount: Int(json["hashCount"]?.integer ?? 0))
    }

    /// One answer per document, of which the first `count` are in the filter.
    fileprivate func answers() throws -> [Bool] {
      let json = try SpecFiles.json("\(Self.prefix)\(testDescription)_membership_test_result", in: "bloom")
      return try #require(json["membershipTestResults"]?.string).utf8.map { $0 == UInt8(ascii: "1") }
    }

    fileprivate static let prefix = "Validation_BloomFilterTest_MD5_"
    fileprivate static let suffix = "_bloom_filter_proto"
  }

  static let goldens = Result {
    try SpecFiles.names(in: "bloom").filter { $0.hasSuffix(Golden.suffix) }.map { name in
      try Golden(String(name.dropFirst(Golden.prefix.count).dropLast(Golden.suffix.count)))
    }
  }

  @Test("The conformance data has twelve Bloom filters")
  func isComplete() throws {
    #expect(try Self.goldens.get().count == 12)
  }

  @Test("A Bloom filter reports the same membership as the backend's filter", arguments: (try? goldens.get()) ?? [])
  func membership(_ golden: Golden) throws {
    let filter = try BloomFilter(golden.bits())
    let answers = try golden.answers()

    let wrong = TestSize.share(4, of: Array(answers.indices), from: golden.count).filter {
      filter.mightContain(Self.name($0)) != answers[$0]
    }

    #expect(answers.count == 2 * golden.count)
    #expect(wrong.isEmpty)
  }

  @Test(
    "A Bloom filter built from the same names equals the backend's bit for bit", arguments: (try? goldens.get()) ?? [])
  func building(_ golden: Golden) throws {
    var builder = BloomFilterBuilder(count: golden.count, falsePositiveRate: golden.falsePositiveRate)
    for index in 0..<golden.count { builder.insert(Self.name(index)) }

    let bits = builder.bits

    #expect(bits == (try golden.bits()))
  }

  private static func name(_ index: Int) -> String {
    "projects/project-1/databases/database-1/documents/coll/doc\(index)"
  }
}

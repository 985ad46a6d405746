// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreSync
import FirestoreTesting
import Testing

@testable import FirestoreProtocol

@Suite struct BloomFilterTests {
  @Test(
    "MD5 digests match RFC 1321",
    arguments: [
      ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
      ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
      (
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
        "57edf4a22be3c955ac49da2e2107b67a"
      ),
    ])
  func digest(message: String, expected: String) {
    let digest = MD5(message.utf8)

    let bytes = [digest.low, digest.high].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * $0)) }
    }
    #expect(bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == expected)
  }

  @Test("A Bloom filter contains a name only if all of its bits are set")
  func membership() throws {
    let filter = try BloomFilter(BloomFilterBits(bitmap: [1, 1, 1, 0], padding: 3, hashCount: 5))
    let root = "projects/test-project/databases/(default)/documents/"

    #expect(filter.mightContain(root + "notes/x"))
    #expect(!filter.mightContain(root + "notes/y"))
  }

  @Test("A Bloom filter without bits contains nothing")
  func empty() throws {
    let filter = try BloomFilter(BloomFilterBits(bitmap: [], padding: 0, hashCount: 0))

    #expect(filter.isEmpty)
    #expect(!filter.mightContain(""))
  }

  @Test(
    "Inconsistent Bloom filter parameters are rejected",
    arguments: [
      BloomFilterBits(bitmap: [1], padding: 8, hashCount: 1), BloomFilterBits(bitmap: [1], padding: -1, hashCount: 1),
      BloomFilterBits(bitmap: [1], padding: 0, hashCount: -1), BloomFilterBits(bitmap: [1], padding: 0, hashCount: 0),
      BloomFilterBits(bitmap: [], padding: 1, hashCount: 0),
    ])
  func invalid(bits: BloomFilterBits) {
    #expect(throws: BloomFilter.Invalid.self) { try BloomFilter(bits) }
  }

  @Test(
    "The backend's published Bloom filters return the published results",
    .enabled(if: SpecFiles.areThere(for: "bloom filters of the backend")),
    arguments: ["1", "500", "5000"], ["1", "01", "0001"])
  func golden(count: String, rate: String) throws {
    func json(_ name: String) throws -> JSONSyntax {
      let data = try SpecFiles.data("bloom/Validation_BloomFilterTest_MD5_\(count)_\(rate)_\(name).json")
      return try JSONSyntax(parsing: String(decoding: data, as: UTF8.self))
    }
    let filter = try json("bloom_filter_proto")
    let results = try json("membership_test_result")
    guard case .string(let expected)? = results["membershipTestResults"]?.kind,
      case .string(let bitmap)? = filter["bits"]?["bitmap"]?.kind
    else { throw RPCStatus(.dataLoss, "not a golden file") }
    func integer(_ json: JSONSyntax?) -> Int { if case .integer(let value)? = json?.kind { Int(value) } else { 0 } }

    let bloom = try BloomFilter(
      BloomFilterBits(
        bitmap: try #require(Base64.decode(bitmap)), padding: integer(filter["bits"]?["padding"]),
        hashCount: integer(filter["hashCount"])))
    let answers = (0..<expected.utf8.count).map { index in
      bloom.mightContain("projects/project-1/databases/database-1/documents/coll/doc\(index)") ? "1" : "0"
    }
    #expect(answers.joined() == expected)
  }
}

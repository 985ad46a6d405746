// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

@testable import FirestoreBackend

@Suite struct BloomFilterTests {
  @Test(
    "MD5 digests match RFC 1321",
    arguments: [
      ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
      ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
      (
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
        "57edf4a22be3c955ac49da2e2107b67a"
      ),
    ])
  func md5(text: String, digest: String) {
    let md5 = MD5(text.utf8)
    let bytes = [md5.low, md5.high].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * $0)) } }
    let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(hex == digest)
  }

  struct Golden: Sendable {
    var count: Int
    var rate: Double
    var byteCount: Int
    var padding: Int
    var hashCount: Int
    /// FNV-1a of the real backend's bitmap.
    var checksum: UInt64
  }

  @Test(
    "A Bloom filter equals the real backend's test data bit for bit",
    arguments: [
      Golden(count: 1, rate: 1, byteCount: 0, padding: 0, hashCount: 0, checksum: 0xcbf2_9ce4_8422_2325),
      Golden(count: 1, rate: 0.01, byteCount: 2, padding: 5, hashCount: 8, checksum: 0x0a3a_7f07_b6a5_3521),
      Golden(count: 1, rate: 0.0001, byteCount: 3, padding: 1, hashCount: 16, checksum: 0xf4d7_cb19_9e5d_bb22),
      Golden(count: 500, rate: 0.01, byteCount: 600, padding: 7, hashCount: 7, checksum: 0xfce1_0f3f_5c85_1217),
      Golden(count: 500, rate: 0.0001, byteCount: 1199, padding: 5, hashCount: 13, checksum: 0xaf96_789a_0d55_8e3c),
      Golden(count: 5000, rate: 0.01, byteCount: 5992, padding: 3, hashCount: 7, checksum: 0x1583_b964_a1c6_a09e),
    ])
  func golden(_ golden: Golden) {
    var builder = BloomFilterBuilder(count: golden.count, falsePositiveRate: golden.rate)
    for index in 0..<golden.count {
      builder.insert("projects/project-1/databases/database-1/documents/coll/doc\(index)")
    }

    let bits = builder.bits

    #expect(bits.bitmap.count == golden.byteCount)
    #expect(bits.padding == golden.padding)
    #expect(bits.hashCount == golden.hashCount)
    let checksum = bits.bitmap.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    #expect(checksum == golden.checksum)
  }

  @Test("A Bloom filter for no names has a non-empty bitmap of zeros")
  func empty() {
    let bits = BloomFilterBuilder(count: 0, falsePositiveRate: 0.01).bits
    #expect(!bits.bitmap.isEmpty && bits.bitmap.allSatisfy { $0 == 0 } && bits.hashCount > 0)
  }
}

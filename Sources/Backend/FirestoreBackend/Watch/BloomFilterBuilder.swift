// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreProtocol
import Glibc

/// Builds the bloom filter of an existence filter: the names of all documents that a target has at the backend.
///
/// The size is what the real backend chooses, recovered from its test data (PROTOCOL §2.5): the smallest prime number
/// of bits not below −n·ln p / (ln 2)², and n/m · ln 2 hashes, rounded.
package struct BloomFilterBuilder {
  private var bitmap: [UInt8]
  private let bitCount: UInt64
  private let hashCount: Int

  /// - Parameters:
  ///   - count: how many names will be inserted.
  ///   - falsePositiveRate: at least this many of the names not inserted are told apart; 1 makes an empty filter.
  package init(count: Int, falsePositiveRate: Double) {
    // A filter without bits would be ignored by clients; for no names, one that contains nothing says so.
    let names = Double(max(count, 1))
    let wanted = (-names * log(falsePositiveRate) / (M_LN2 * M_LN2)).rounded(.up)
    guard wanted >= 1 else {
      (bitmap, bitCount, hashCount) = ([], 0, 0)
      return
    }
    let bits = Self.smallestPrime(notBelow: Int(wanted))
    bitCount = UInt64(bits)
    hashCount = max(Int((Double(bits) / names * M_LN2).rounded()), 1)
    bitmap = [UInt8](repeating: 0, count: (bits + 7) / 8)
  }

  /// - Parameter name: the document's full resource name.
  package mutating func insert(_ name: String) {
    guard bitCount > 0 else { return }
    let digest = MD5(name.utf8)
    for index in 0..<UInt64(hashCount) {
      let bit = (digest.low &+ index &* digest.high) % bitCount
      bitmap[Int(bit / 8)] |= 1 << (bit % 8)
    }
  }

  package var bits: BloomFilterBits {
    BloomFilterBits(bitmap: bitmap, padding: bitmap.count * 8 - Int(bitCount), hashCount: hashCount)
  }

  private static func smallestPrime(notBelow start: Int) -> Int {
    var candidate = max(start, 2)
    while !isPrime(candidate) { candidate += 1 }
    return candidate
  }

  private static func isPrime(_ number: Int) -> Bool {
    if number < 4 { return number > 1 }
    if number.isMultiple(of: 2) { return false }
    var divisor = 3
    while divisor * divisor <= number {
      if number.isMultiple(of: divisor) { return false }
      divisor += 2
    }
    return true
  }
}

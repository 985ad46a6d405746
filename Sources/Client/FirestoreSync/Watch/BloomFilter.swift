// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreProtocol

/// A set of document names that may answer "contained" wrongly but never "not contained" (PROTOCOL §2.5).
package struct BloomFilter: Sendable {
  package struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  private let bitmap: [UInt8]
  private let bitCount: UInt64
  private let hashCount: Int

  /// - Throws: what is wrong with the bits: padding outside 0…7, a hash count that is negative, or zero with a bitmap,
  ///   or padding without a bitmap.
  package init(_ bits: BloomFilterBits) throws(Invalid) {
    guard (0...7).contains(bits.padding) else { throw Invalid(description: "padding \(bits.padding) is not in 0…7") }
    guard bits.hashCount >= 0 else { throw Invalid(description: "hash count \(bits.hashCount) is negative") }
    if bits.bitmap.isEmpty {
      guard bits.padding == 0 else { throw Invalid(description: "padding \(bits.padding) without a bitmap") }
    } else {
      guard bits.hashCount > 0 else { throw Invalid(description: "hash count 0 with a bitmap") }
    }
    bitmap = bits.bitmap
    bitCount = UInt64(bits.bitmap.count * 8 - bits.padding)
    hashCount = bits.hashCount
  }

  /// A filter without bits contains nothing and cannot explain a difference.
  package var isEmpty: Bool { bitCount == 0 }

  /// - Parameter name: the full resource name, `projects/P/databases/D/documents/…`.
  package func mightContain(_ name: String) -> Bool {
    guard bitCount > 0 else { return false }
    let digest = MD5(name.utf8)
    return (0..<UInt64(hashCount)).allSatisfy { round in
      let bit = (digest.low &+ round &* digest.high) % bitCount
      return bitmap[Int(bit / 8)] & (1 << UInt8(bit % 8)) != 0
    }
  }
}

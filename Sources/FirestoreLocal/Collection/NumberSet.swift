// SPDX-License-Identifier: Apache-2.0

/// A set of document numbers: a bit each, in blocks for neighbouring numbers, since a collection's numbers lie close.
struct NumberSet {
  /// How many low bits of a number are its place within a block.
  private static let blockBits: Int64 = 15
  private static let wordsPerBlock = 1 << 15 / 64

  private var blocks: [Int64: [UInt64]] = [:]

  mutating func insert(_ number: DocumentTable.Number) {
    let (word, bit) = Self.place(number)
    blocks[number >> Self.blockBits, default: Array(repeating: 0, count: Self.wordsPerBlock)][word] |= bit
  }

  func contains(_ number: DocumentTable.Number) -> Bool {
    let (word, bit) = Self.place(number)
    return blocks[number >> Self.blockBits].map { $0[word] & bit != 0 } ?? false
  }

  private static func place(_ number: DocumentTable.Number) -> (word: Int, bit: UInt64) {
    let offset = Int(number & (1 << blockBits - 1))
    return (offset / 64, 1 << UInt64(offset % 64))
  }
}

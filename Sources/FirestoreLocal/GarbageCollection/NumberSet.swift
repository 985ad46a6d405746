// SPDX-License-Identifier: Apache-2.0

/// A set of document numbers: a bit each, in blocks for neighbouring numbers, since a collection's numbers lie close.
struct NumberSet {
  /// How many low bits of a number are its place within a block.
  private static let blockBits: Int64 = 15
  private static let wordsPerBlock = 1 << 15 / 64

  private var blocks: [Int64: [UInt64]] = [:]
  private(set) var count = 0

  mutating func insert(_ number: DocumentNumber) {
    let (word, bit) = Self.place(number.rawValue)
    let block = number.rawValue >> Self.blockBits
    if Self.set(bit, in: &blocks[block, default: Array(repeating: 0, count: Self.wordsPerBlock)][word]) { count += 1 }
  }

  /// - Returns: whether it was not set before.
  private static func set(_ bit: UInt64, in word: inout UInt64) -> Bool {
    defer { word |= bit }
    return word & bit == 0
  }

  func contains(_ number: DocumentNumber) -> Bool {
    let (word, bit) = Self.place(number.rawValue)
    return blocks[number.rawValue >> Self.blockBits].map { $0[word] & bit != 0 } ?? false
  }

  /// The lowest numbers above `bound`, ascending; at most `limit` of them.
  func numbers(above bound: DocumentNumber?, limit: Int) -> [DocumentNumber] {
    var found: [DocumentNumber] = []
    let first = bound.map { $0.rawValue + 1 } ?? .min
    for block in blocks.keys.filter({ $0 >= first >> Self.blockBits }).sorted() {
      guard let words = blocks[block] else { continue }
      let start = block << Self.blockBits
      let (firstWord, firstBit) = first > start ? Self.place(first) : (0, 1)
      for index in firstWord..<Self.wordsPerBlock {
        var word = words[index]
        if index == firstWord { word &= ~(firstBit - 1) }
        while word != 0 {
          if found.count == limit { return found }
          found.append(DocumentNumber(rawValue: start + Int64(index * 64 + word.trailingZeroBitCount)))
          word &= word - 1
        }
      }
    }
    return found
  }

  private static func place(_ number: Int64) -> (word: Int, bit: UInt64) {
    let offset = Int(number & (1 << blockBits - 1))
    return (offset / 64, 1 << UInt64(offset % 64))
  }
}

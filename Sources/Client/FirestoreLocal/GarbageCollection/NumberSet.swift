// SPDX-License-Identifier: Apache-2.0

/// A set of document numbers, stored as bits in blocks of adjacent numbers. The documents of a collection have adjacent
/// numbers, so the blocks are dense.
struct NumberSet {
  /// The number of low bits in a document number that determine its position within a block.
  private static let blockBits: Int64 = 15
  private static let wordsPerBlock = 1 << 15 / 64

  private var blocks: [Int64: [UInt64]] = [:]
  private(set) var count = 0

  mutating func insert(_ number: DocumentNumber) {
    let (word, bit) = Self.place(number.rawValue)
    let block = number.rawValue >> Self.blockBits
    if Self.set(bit, in: &blocks[block, default: Array(repeating: 0, count: Self.wordsPerBlock)][word]) { count += 1 }
  }

  /// - Returns: whether the bit was not set before.
  private static func set(_ bit: UInt64, in word: inout UInt64) -> Bool {
    defer { word |= bit }
    return word & bit == 0
  }

  func contains(_ number: DocumentNumber) -> Bool {
    let (word, bit) = Self.place(number.rawValue)
    return blocks[number.rawValue >> Self.blockBits].map { $0[word] & bit != 0 } ?? false
  }

  /// The lowest numbers above `bound`, in ascending order; at most `limit` of them.
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

/// Counts how often each sequence number occurs, in blocks of adjacent numbers. Adding a number moves little data, and
/// finding the n-th lowest number requires sorting only the blocks.
struct SequenceNumberCounts {
  private static let blockSize: Int64 = 256

  private var blocks: [Int64: [Int32]] = [:]
  private var totals: [Int64: Int] = [:]
  private(set) var total = 0

  mutating func add(_ number: Int64) {
    let block = number >> 8
    blocks[block, default: Array(repeating: 0, count: Int(Self.blockSize))][Int(number & (Self.blockSize - 1))] += 1
    totals[block, default: 0] += 1
    total += 1
  }

  /// The `count`-th lowest sequence number; `nil` if the count is too high.
  func number(at count: Int) -> Int64? {
    var seen = 0
    for block in totals.keys.sorted() {
      let inBlock = totals[block] ?? 0
      guard seen + inBlock >= count else {
        seen += inBlock
        continue
      }
      for (offset, occurrences) in (blocks[block] ?? []).enumerated() {
        seen += Int(occurrences)
        if seen >= count { return block << 8 + Int64(offset) }
      }
    }
    return nil
  }
}

/// A set of documents with a maximum size. Of all added documents, it keeps those with the lowest sequence numbers.
struct OldestDocuments: Sendable {
  /// The maximum size of the set. The set is larger than the list shown to the user, because some of its documents may
  /// be referenced.
  private static let most = 400

  private var entries: [(sequenceNumber: Int64, number: DocumentNumber)] = []
  /// The highest sequence number in the set if the set is full; otherwise `Int64.max`.
  private var bound = Int64.max

  mutating func add(_ number: DocumentNumber, _ sequenceNumber: Int64) {
    guard sequenceNumber < bound else { return }
    entries.append((sequenceNumber, number))
    if entries.count >= 2 * Self.most { cut() }
  }

  private mutating func cut() {
    entries = Array(sorted.prefix(Self.most))
    bound = entries.last?.sequenceNumber ?? .max
  }

  /// The documents, least recently used first.
  var sorted: [(sequenceNumber: Int64, number: DocumentNumber)] {
    entries.sorted { ($0.sequenceNumber, $0.number.rawValue) < ($1.sequenceNumber, $1.number.rawValue) }
  }
}

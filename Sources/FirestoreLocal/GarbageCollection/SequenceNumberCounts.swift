// SPDX-License-Identifier: Apache-2.0

/// How often each sequence number occurs. Neighbouring numbers are counted together, so that adding never moves much at
/// once and finding the n-th lowest sorts only a few hundred.
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

  /// The number that is reached by counting up to `count` from the lowest on; `nil` if there are fewer.
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

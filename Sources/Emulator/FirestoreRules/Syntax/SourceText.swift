// SPDX-License-Identifier: Apache-2.0

/// One file of rules, with the offsets of its lines.
struct SourceText: Sendable {
  let file: Int
  let name: String
  let bytes: [UInt8]
  /// The offset of the first byte of each line.
  private let lineStarts: [Int]

  init(_ source: RulesFile, file: Int) {
    self.file = file
    name = source.name
    bytes = Array(source.content.utf8)
    var starts = [0]
    var line = bytes[...]
    while let end = line.firstIndex(of: UInt8(ascii: "\n")) {
      starts.append(end + 1)
      line = bytes[(end + 1)...]
    }
    lineStarts = starts
  }

  /// The line and column of a byte, both counted from 1; the column in UTF-16 code units, as editors count.
  func lineAndColumn(of offset: Int) -> (line: Int, column: Int) {
    var low = 0
    var high = lineStarts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    return (low + 1, codeUnits(lineStarts[low]..<max(offset, lineStarts[low])) + 1)
  }

  func position(_ range: Range<Int>) -> RulesPosition {
    let (line, column) = lineAndColumn(of: range.lowerBound)
    let start = codeUnits(0..<range.lowerBound)
    let end = start + codeUnits(range)
    return RulesPosition(file: file, line: line, column: column, currentOffset: start, endOffset: end)
  }

  /// The number of UTF-16 code units that the bytes of a range decode to.
  private func codeUnits(_ range: Range<Int>) -> Int {
    bytes.withUnsafeBufferPointer { bytes in
      var count = 0
      for place in range.clamped(to: 0..<bytes.count) {
        // Every scalar counts once at its first byte, one of four bytes twice.
        let byte = bytes[place]
        if byte & 0xC0 != 0x80 { count += byte >= 0xF0 ? 2 : 1 }
      }
      return count
    }
  }
}

extension SourceText {
  func issue(_ range: Range<Int>, _ message: String, isError: Bool = true) -> RulesIssue {
    let place = position(range)
    return RulesIssue(
      fileName: name, line: place.line, column: place.column, currentOffset: place.currentOffset,
      endOffset: place.endOffset, message: message, isError: isError)
  }
}

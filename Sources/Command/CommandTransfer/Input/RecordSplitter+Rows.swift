// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreJSON

extension RecordSplitter {
  /// The next row of cells that is not empty; quoted cells may have line breaks in them.
  mutating func nextRow(_ delimiter: Delimiter) throws(JSONError) -> InputRecord? {
    while true {
      let newline = endOfRow(delimiter)
      guard let end = newline ?? (isAtEnd && start < buffer.count ? buffer.count : nil) else {
        try checkLength()
        return nil
      }
      let place = position
      var content = buffer[start..<end]
      if place.offset == 0, content.starts(with: Self.byteOrderMark) { content.removeFirst(Self.byteOrderMark.count) }
      if content.last == UInt8(ascii: "\r") { content.removeLast() }
      position.offset += (newline == nil ? end : end + 1) - start
      position.line += content.count(where: { $0 == UInt8(ascii: "\n") }) + 1
      start = newline == nil ? end : end + 1
      if content.isEmpty { continue }
      return InputRecord(bytes: Array(content), place: place, start: place)
    }
  }

  /// The place of the line feed that ends the row at `start`; `nil` if there is none in the buffer.
  private func endOfRow(_ delimiter: Delimiter) -> Int? {
    guard case .quoted(let sign) = delimiter else { return buffer[start...].firstIndex(of: UInt8(ascii: "\n")) }
    var isQuoted = false
    var beginsCell = true
    var index = start
    if position.offset == 0, buffer[start...].starts(with: Self.byteOrderMark) { index += Self.byteOrderMark.count }
    return buffer.withUnsafeBufferPointer { bytes in
      while index < bytes.count {
        let byte = bytes[index]
        if isQuoted {
          // Two quotes stand for one quote that does not end the cell: the second opens it again.
          if byte == UInt8(ascii: "\"") { isQuoted = false }
          beginsCell = byte == UInt8(ascii: "\"")
        } else if byte == UInt8(ascii: "\n") {
          return index
        } else {
          isQuoted = byte == UInt8(ascii: "\"") && beginsCell
          beginsCell = byte == sign
        }
        index += 1
      }
      return nil
    }
  }
}

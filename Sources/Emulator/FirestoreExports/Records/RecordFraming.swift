// SPDX-License-Identifier: Apache-2.0

/// The layout of files of records (LevelDB's log format):
/// ```
/// file    block of 32 KiB, block, … the last may be shorter
/// block   piece, piece, … less than 7 bytes that are left over are zero
/// piece   masked CRC-32C, 4 bytes ‖ length, 2 bytes ‖ type, 1 byte ‖ bytes
/// ```
/// A record is one piece, or a first, middle ones and a last.
enum RecordFraming {
  static let blockBytes = 32 * 1024
  static let headerBytes = 7

  enum Piece: UInt8 {
    case whole = 1, first, middle, last
  }

  /// The most bytes of a record. A document has at most 1 MiB by Firestore's accounting; its record repeats the name of
  /// a field for each element of an array, and can be many times as long.
  package static let recordLimit = 256 << 20
}

/// Writes records in the form of a file of them.
package struct RecordLogWriter: Sendable {
  /// The bytes that are to be written next.
  package private(set) var bytes: [UInt8] = []
  /// The number of bytes since the beginning of the file.
  package private(set) var count = 0

  package init() {}

  package mutating func append(_ record: [UInt8]) {
    var start = 0
    // The first piece has no bytes if there is room for a header alone.
    var isFirst = true
    repeat {
      var room = RecordFraming.blockBytes - count % RecordFraming.blockBytes
      if room < RecordFraming.headerBytes {
        bytes.append(contentsOf: repeatElement(0, count: room))
        count += room
        room = RecordFraming.blockBytes
      }
      let end = min(record.count, start + room - RecordFraming.headerBytes)
      let isLast = end == record.count
      let piece: RecordFraming.Piece = isFirst ? isLast ? .whole : .first : isLast ? .last : .middle
      isFirst = false
      append(piece, record[start..<end])
      start = end
    } while start < record.count
  }

  private mutating func append(_ piece: RecordFraming.Piece, _ content: ArraySlice<UInt8>) {
    let checksum = content.withUnsafeBytes { RecordChecksum.masked(piece.rawValue, $0) }
    for shift in [0, 8, 16, 24] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: checksum >> shift)) }
    bytes.append(UInt8(truncatingIfNeeded: content.count))
    bytes.append(UInt8(truncatingIfNeeded: content.count >> 8))
    bytes.append(piece.rawValue)
    bytes.append(contentsOf: content)
    count += RecordFraming.headerBytes + content.count
  }

  /// - Returns: the bytes to be written, which are then no longer held.
  package mutating func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }
}

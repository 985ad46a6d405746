// SPDX-License-Identifier: Apache-2.0

/// The layout of record files (LevelDB's log format):
/// ```
/// file    block of 32 KiB, block, … the last may be shorter
/// block   piece, piece, … a rest of less than 7 bytes is zero
/// piece   masked CRC-32C, 4 bytes ‖ length, 2 bytes ‖ type, 1 byte ‖ bytes
/// ```
/// A record consists of one piece, or of a first piece, any middle pieces and a last piece.
enum RecordFraming {
  static let blockBytes = 32 * 1024
  static let headerBytes = 7

  enum Piece: UInt8 {
    case whole = 1, first, middle, last
  }

  /// The maximum size of a record in bytes. A document has at most 1 MiB by Firestore's rules. Its record can be many
  /// times as long, because it repeats the name of a field for each element of an array.
  package static let recordLimit = 256 << 20
}

/// Writes records in the format of a record file.
package struct RecordLogWriter: Sendable {
  /// The bytes to write next.
  package private(set) var bytes: [UInt8] = []
  /// The number of bytes since the beginning of the file.
  package private(set) var count = 0

  package init() {}

  package mutating func append(_ record: [UInt8]) {
    var start = 0
    // The first piece has no bytes if there is only room for a header.
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

  /// Removes and returns the bytes to write.
  package mutating func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }
}

/// The checksum of a piece of a record: CRC-32C (RFC 3720, appendix B.4), masked as in LevelDB's log format. The mask
/// keeps checksums effective for data that itself contains checksums.
enum RecordChecksum {
  /// `tables[k][byte]` is the checksum of a byte followed by `k` zeros. With these tables, eight bytes are processed in
  /// one step.
  private static let tables: [[UInt32]] = {
    // Castagnoli's polynomial, with reversed bits.
    let polynomial: UInt32 = 0x82f6_3b78
    let first = (0..<256).map { byte in
      (0..<8).reduce(UInt32(byte)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ polynomial : rest >> 1 }
    }
    var tables = [first]
    for _ in 1..<8 { tables.append(tables[tables.count - 1].map { $0 >> 8 ^ first[Int($0 & 0xff)] }) }
    return tables
  }()
  private static let flat: [UInt32] = tables.flatMap(\.self)

  /// - Parameter type: the type of the piece; the checksum includes it.
  static func masked(_ type: UInt8, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
    let crc = flat.withUnsafeBufferPointer { tables in
      ~update(UInt32.max >> 8 ^ tables[Int(~type)], bytes, tables)
    }
    return (crc >> 15 | crc << 17) &+ 0xa282_ead8
  }

  private static func update(
    _ crc: UInt32, _ bytes: UnsafeRawBufferPointer, _ tables: UnsafeBufferPointer<UInt32>
  ) -> UInt32 {
    var crc = crc
    var index = 0
    while index + 8 <= bytes.count {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ UInt64(crc)
      crc = 0
      for step in 0..<8 {
        crc ^= tables[(7 - step) << 8 | Int(UInt8(truncatingIfNeeded: word >> UInt64(step * 8)))]
      }
      index += 8
    }
    while index < bytes.count {
      crc = crc >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: crc) ^ bytes[index])]
      index += 1
    }
    return crc
  }
}

/// Extracts records from a record file piece by piece, and verifies the checksums.
package struct RecordLogReader: Sendable {
  /// The error for bytes that are not a complete record.
  package struct Damage: Error, Hashable, Sendable {
    /// The offset in the file, in bytes.
    package var offset: Int
    package var reason: String
  }

  package struct Record: Hashable, Sendable {
    package var bytes: [UInt8]
    /// The offset in the file, in bytes.
    package var offset: Int
  }

  private var buffer: [UInt8] = []
  private var start = 0
  /// The offset in the file of the byte at `start`.
  private var offset = 0
  /// A record whose last piece has not been read yet.
  private var open: Record?
  private let limit: Int

  /// - Parameter limit: the maximum size of a record in bytes.
  package init(limit: Int = RecordFraming.recordLimit) { self.limit = limit }

  package mutating func append(_ bytes: [UInt8]) {
    if start == buffer.count {
      buffer = bytes
    } else {
      buffer.removeFirst(start)
      buffer.append(contentsOf: bytes)
    }
    start = 0
  }

  /// - Parameter isAtEnd: whether all bytes of the file have been appended.
  /// - Returns: the next record; `nil` if more bytes are needed, and after the last record.
  package mutating func next(isAtEnd: Bool) throws(Damage) -> Record? {
    while true {
      let left = buffer.count - start
      let room = RecordFraming.blockBytes - offset % RecordFraming.blockBytes
      if room < RecordFraming.headerBytes {
        guard left >= room || isAtEnd else { return nil }
        skip(min(room, left))
        if left < room { return try end() }
        continue
      }
      if left == 0, isAtEnd { return try end() }
      guard left >= RecordFraming.headerBytes else {
        if isAtEnd { throw damage("The file ends within a record.") }
        return nil
      }
      let length = Int(buffer[start + 4]) | Int(buffer[start + 5]) << 8
      guard length <= room - RecordFraming.headerBytes else { throw damage("A record has an invalid length.") }
      guard left >= RecordFraming.headerBytes + length else {
        if isAtEnd { throw damage("The file ends within a record.") }
        return nil
      }
      if let record = try piece(length) { return record }
    }
  }

  private mutating func piece(_ length: Int) throws(Damage) -> Record? {
    let stated = (0..<4).reduce(UInt32(0)) { $0 | UInt32(buffer[start + $1]) << UInt32(8 * $1) }
    let content = (start + RecordFraming.headerBytes)..<(start + RecordFraming.headerBytes + length)
    let type = buffer[start + 6]
    let found = buffer.withUnsafeBytes { RecordChecksum.masked(type, UnsafeRawBufferPointer(rebasing: $0[content])) }
    guard found == stated else { throw damage("A record's checksum does not match its bytes.") }
    guard let piece = RecordFraming.Piece(rawValue: type) else {
      throw damage("A record has the unknown type \(type).")
    }
    let place = offset
    if (open == nil) != (piece == .whole || piece == .first) {
      throw damage(
        open == nil ? "A record's beginning is missing." : "The record at byte \(open?.offset ?? 0) has no end.")
    }
    if (open?.bytes.count ?? 0) + length > limit { throw damage("A record is longer than \(limit) bytes.") }
    if open == nil {
      open = Record(bytes: Array(buffer[content]), offset: place)
    } else {
      open?.bytes.append(contentsOf: buffer[content])
    }
    skip(RecordFraming.headerBytes + length)
    guard piece == .whole || piece == .last else { return nil }
    defer { open = nil }
    return open
  }

  private mutating func skip(_ count: Int) {
    start += count
    offset += count
  }

  private func end() throws(Damage) -> Record? {
    if open != nil { throw damage("The file ends within a record.") }
    return nil
  }

  private func damage(_ reason: String) -> Damage { Damage(offset: offset, reason: reason) }
}

// SPDX-License-Identifier: Apache-2.0

/// Takes records out of the bytes of a file of them, as the bytes are read; checks every record.
package struct RecordLogReader: Sendable {
  /// The error for bytes that are no record, or not all of one.
  package struct Damage: Error, Hashable, Sendable {
    /// The position in the file, in bytes from its beginning.
    package var offset: Int
    package var reason: String
  }

  package struct Record: Hashable, Sendable {
    package var bytes: [UInt8]
    /// The position in the file, in bytes from its beginning.
    package var offset: Int
  }

  private var buffer: [UInt8] = []
  private var start = 0
  /// The position in the file of the byte at `start`.
  private var offset = 0
  /// A record whose last piece is still to come.
  private var open: Record?
  private let limit: Int

  /// - Parameter limit: the most bytes of a record.
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
  /// - Returns: the next record; `nil` if it takes more bytes, and after the last.
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
      guard length <= room - RecordFraming.headerBytes else { throw damage("A record's length is impossible.") }
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
    guard found == stated else { throw damage("A record's checksum does not fit its bytes.") }
    guard let piece = RecordFraming.Piece(rawValue: type) else {
      throw damage("A record has the unknown type \(type).")
    }
    let place = offset
    if (open == nil) != (piece == .whole || piece == .first) {
      throw damage(open == nil ? "A record's beginning is missing." : "The record at \(open?.offset ?? 0) has no end.")
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

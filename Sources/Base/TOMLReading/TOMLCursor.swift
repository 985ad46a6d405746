// SPDX-License-Identifier: Apache-2.0

/// A place in a text of TOML.
struct TOMLCursor {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
    // A byte order mark says nothing in UTF-8, and some editors write one.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// The byte at the cursor; `nil` at the end of the text.
  var next: UInt8? { self[0] }

  /// The byte that stands `offset` bytes behind the cursor; `nil` behind the end of the text.
  subscript(offset: Int) -> UInt8? {
    position + offset < bytes.count ? bytes[position + offset] : nil
  }

  /// - Parameter count: at most the number of bytes that are left.
  mutating func advance(by count: Int = 1) { position += count }

  /// Takes the byte if it comes next.
  mutating func take(_ byte: Character) -> Bool {
    guard let value = byte.asciiValue, next == value else { return false }
    position += 1
    return true
  }

  /// Takes the bytes of the text if they come next.
  mutating func take(_ text: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard bytes[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  /// Takes the end of a line if it comes next.
  mutating func takeNewline() -> Bool { take("\n" as StaticString) || take("\r\n" as StaticString) }

  mutating func skipBlanks() {
    while next == UInt8(ascii: " ") || next == UInt8(ascii: "\t") { position += 1 }
  }

  /// Takes bytes as long as they are wanted.
  mutating func take(while isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let start = position
    while position < bytes.count, isWanted(bytes[position]) { position += 1 }
    return bytes[start..<position]
  }

  /// An error at a place of the text; at the cursor if no place is given.
  func error(_ reason: String, at place: Int? = nil) -> TOMLError {
    let before = bytes[..<(place ?? position)]
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    // Bytes that continue a scalar in UTF-8 are no columns of their own.
    let column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1
    return TOMLError(line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: column, reason: reason)
  }

  /// The text for the next character in an error message.
  var found: String {
    guard let next else { return "the end of the file" }
    if next == UInt8(ascii: "\n") || next == UInt8(ascii: "\r") { return "the end of the line" }
    if Self.isControl(next) { return "a control character" }
    let rest = bytes[position..<min(bytes.count, position + 4)]
    guard let scalar = String(decoding: rest, as: UTF8.self).unicodeScalars.first else { return "nothing" }
    return "\"\(scalar)\""
  }

  /// Whether a byte is a control character that TOML forbids in texts.
  static func isControl(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != 0x09) || byte == 0x7F }
}

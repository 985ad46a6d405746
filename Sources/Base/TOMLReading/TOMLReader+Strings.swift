// SPDX-License-Identifier: Apache-2.0

/// Strings in quotes.
extension TOMLReader {
  /// `"…"`, on one line, with escapes.
  mutating func readBasicString() throws(TOMLError) -> [UInt8] {
    let start = cursor.position
    cursor.advance()
    var text: [UInt8] = []
    while true {
      text += cursor.take { !TOMLCursor.isControl($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
      if cursor.take("\"" as Character) { return text }
      guard cursor.next == UInt8(ascii: "\\") else { throw unended(start) }
      try readEscape(into: &text)
    }
  }

  /// `'…'`, on one line, as it stands.
  mutating func readLiteralString() throws(TOMLError) -> [UInt8] {
    let start = cursor.position
    cursor.advance()
    let text = cursor.take { !TOMLCursor.isControl($0) && $0 != UInt8(ascii: "'") }
    guard cursor.take("'" as Character) else { throw unended(start) }
    return Array(text)
  }

  /// Reads the rest of a `"""` string, which may span lines and hold escapes.
  mutating func readLongBasicString() throws(TOMLError) -> [UInt8] {
    let start = cursor.position - 3
    _ = cursor.takeNewline()
    var text: [UInt8] = []
    while true {
      text += cursor.take { !TOMLCursor.isControl($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
      if cursor.takeNewline() {
        text.append(0x0A)
      } else if cursor.next == UInt8(ascii: "\"") {
        if takeEnd(UInt8(ascii: "\""), of: &text) { return text }
      } else if cursor.next == UInt8(ascii: "\\") {
        if !takeContinuation() { try readEscape(into: &text) }
      } else {
        throw unended(start)
      }
    }
  }

  /// Reads the rest of a `'''` string, which may span lines and is taken literally.
  mutating func readLongLiteralString() throws(TOMLError) -> [UInt8] {
    let start = cursor.position - 3
    _ = cursor.takeNewline()
    var text: [UInt8] = []
    while true {
      text += cursor.take { !TOMLCursor.isControl($0) && $0 != UInt8(ascii: "'") }
      if cursor.takeNewline() {
        text.append(0x0A)
      } else if cursor.next == UInt8(ascii: "'") {
        if takeEnd(UInt8(ascii: "'"), of: &text) { return text }
      } else {
        throw unended(start)
      }
    }
  }

  /// Takes the quotes that come next. One or two may stand anywhere in a long string, also before its end.
  /// - Returns: whether the string ends with them.
  private mutating func takeEnd(_ quote: UInt8, of text: inout [UInt8]) -> Bool {
    var count = 0
    while count < 5, cursor[count] == quote { count += 1 }
    cursor.advance(by: count)
    text += Array(repeating: quote, count: count >= 3 ? count - 3 : count)
    return count >= 3
  }

  /// Takes a backslash at the end of a line, with all blanks and ends of lines behind it.
  private mutating func takeContinuation() -> Bool {
    var after = cursor
    after.advance()
    after.skipBlanks()
    guard after.takeNewline() else { return false }
    repeat { after.skipBlanks() } while after.takeNewline()
    cursor = after
    return true
  }

  private mutating func readEscape(into text: inout [UInt8]) throws(TOMLError) {
    let start = cursor.position
    cursor.advance()
    let escape = cursor.next
    if escape != nil { cursor.advance() }
    switch escape {
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "\""): text.append(UInt8(ascii: "\""))
    case UInt8(ascii: "\\"): text.append(UInt8(ascii: "\\"))
    case UInt8(ascii: "u"): text += try readScalar(digits: 4, from: start)
    case UInt8(ascii: "U"): text += try readScalar(digits: 8, from: start)
    default: throw cursor.error(#"expected b, t, n, f, r, ", \, u or U behind a backslash"#, at: start)
    }
  }

  private mutating func readScalar(digits: Int, from start: Int) throws(TOMLError) -> [UInt8] {
    var number: UInt32 = 0
    for _ in 0..<digits {
      guard let byte = cursor.next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw cursor.error("expected \(digits) hexadecimal digits", at: start)
      }
      // Eight digits at most.
      number = number << 4 | UInt32(digit)
      cursor.advance()
    }
    guard let scalar = Unicode.Scalar(number) else { throw cursor.error("this is no Unicode scalar", at: start) }
    return Array(String(scalar).utf8)
  }

  private func unended(_ start: Int) -> TOMLError {
    if let next = cursor.next, next != 0x0A, !(next == 0x0D && cursor[1] == 0x0A) {
      return cursor.error("a string holds a control character; write it as \\u and four digits")
    }
    return cursor.error("this string has no end", at: start)
  }
}

// SPDX-License-Identifier: Apache-2.0

/// Cuts a file of rules into tokens, one at a time, because only the parser knows the meaning of a slash.
struct RulesScanner {
  let bytes: [UInt8]
  /// The offset of the next byte to read.
  var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The byte so many places ahead.
  func peek(_ ahead: Int = 0) -> UInt8? { offset + ahead < bytes.count ? bytes[offset + ahead] : nil }

  mutating func next() throws(SyntaxFailure) -> RulesToken {
    try skipBlanks()
    let start = offset
    guard let byte = peek() else { return RulesToken(kind: .end, text: "", range: offset..<offset) }
    switch byte {
    case _ where Self.isNameStart(byte):
      while let byte = peek(), Self.isName(byte) { offset += 1 }
      if offset - start == 1, byte == UInt8(ascii: "b"), let quote = peek(), Self.isQuote(quote) {
        return try string(from: start, isBytes: true)
      }
      return token(.identifier, from: start)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: "."):
      if let digit = peek(1), Self.isDigit(digit) { return try number() }
    case UInt8(ascii: "'"), UInt8(ascii: "\""): return try string(from: start, isBytes: false)
    default: break
    }
    return try symbol()
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
  static func isNameStart(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
  }
  static func isName(_ byte: UInt8) -> Bool { isNameStart(byte) || isDigit(byte) }
  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  private func token(_ kind: RulesToken.Kind, from start: Int) -> RulesToken {
    RulesToken(kind: kind, text: text(start..<offset), range: start..<offset)
  }

  /// Skips white space and comments.
  mutating func skipBlanks() throws(SyntaxFailure) {
    while let byte = peek() {
      if Self.isBlank(byte) {
        offset += 1
      } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "/") {
        while let byte = peek(), byte != UInt8(ascii: "\n") { offset += 1 }
      } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
        let start = offset
        offset += 2
        while offset + 1 < bytes.count, bytes[offset] != UInt8(ascii: "*") || bytes[offset + 1] != UInt8(ascii: "/") {
          offset += 1
        }
        guard offset + 1 < bytes.count else {
          offset = bytes.count
          throw SyntaxFailure(range: start..<start + 2, message: "This comment has no end: write '*/'.")
        }
        offset += 2
      } else {
        return
      }
    }
  }

  private mutating func symbol() throws(SyntaxFailure) -> RulesToken {
    let start = offset
    let first = bytes[offset]
    offset += 1
    if let second = peek(), Self.isPair(first, second) {
      offset += 1
      return token(.symbol, from: start)
    }
    // A character beyond ASCII is one token, whatever its number of bytes.
    while let byte = peek(), byte & 0xC0 == 0x80 { offset += 1 }
    let result = token(.symbol, from: start)
    guard Self.symbols.contains(first) else {
      throw SyntaxFailure(range: result.range, message: "Unexpected \(result.quoted).")
    }
    return result
  }

  private static let symbols = Set("{}()[]<>=!+-*/%?:;,.&|$".utf8)

  private static func isPair(_ first: UInt8, _ second: UInt8) -> Bool {
    switch first {
    case UInt8(ascii: "="), UInt8(ascii: "!"), UInt8(ascii: "<"), UInt8(ascii: ">"): second == UInt8(ascii: "=")
    case UInt8(ascii: "&"), UInt8(ascii: "|"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "*"): second == first
    case UInt8(ascii: "$"): second == UInt8(ascii: "(")
    default: false
    }
  }
}

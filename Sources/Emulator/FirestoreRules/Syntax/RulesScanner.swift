// SPDX-License-Identifier: Apache-2.0

/// Splits a file of rules into tokens. The parser requests them one at a time, because only the parser knows the
/// meaning of a slash.
struct RulesScanner {
  let bytes: [UInt8]
  /// The offset of the next byte to read.
  var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The byte `ahead` bytes after the next one; `nil` at the end.
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
    // A non-ASCII character is one token, regardless of its number of bytes.
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

extension RulesScanner {
  /// Reads a number: `1`, `1.5`, `1.` or `.5`, without exponent or sign.
  mutating func number() throws(SyntaxFailure) -> RulesToken {
    let start = offset
    var isFloat = false
    while let byte = peek(), Self.isDigit(byte) { offset += 1 }
    if peek() == UInt8(ascii: ".") {
      isFloat = true
      offset += 1
      while let byte = peek(), Self.isDigit(byte) { offset += 1 }
    }
    let written = text(start..<offset)
    let hasLeadingZero = written.count > 1 && written.hasPrefix("0") && !written.hasPrefix("0.")
    if let byte = peek(), Self.isName(byte) || hasLeadingZero {
      while let byte = peek(), Self.isName(byte) { offset += 1 }
      throw invalidNumber(start)
    }
    if hasLeadingZero { throw invalidNumber(start) }
    if isFloat {
      let full = (written.hasPrefix(".") ? "0" : "") + written + (written.hasSuffix(".") ? "0" : "")
      guard let value = Double(full), value.isFinite else { throw invalidNumber(start) }
      return RulesToken(kind: .float(value), text: written, range: start..<offset)
    }
    guard let value = Int64(written) else { throw invalidNumber(start) }
    return RulesToken(kind: .integer(value), text: written, range: start..<offset)
  }

  private func invalidNumber(_ start: Int) -> SyntaxFailure {
    SyntaxFailure(range: start..<offset, message: "Invalid number literal \(text(start..<offset)).")
  }

  /// Reads a string in single or double quotes on one line, or bytes if the prefix was `b`.
  mutating func string(from start: Int, isBytes: Bool) throws(SyntaxFailure) -> RulesToken {
    let quote = bytes[offset]
    offset += 1
    var content: [UInt8] = []
    while true {
      guard let byte = peek(), byte != UInt8(ascii: "\n") else {
        let mark = quote == UInt8(ascii: "'") ? "'" : "\""
        throw SyntaxFailure(range: start..<offset, message: "Missing a closing \(mark)")
      }
      offset += 1
      if byte == quote { break }
      if byte == UInt8(ascii: "\\") { try escape(isBytes: isBytes, into: &content) } else { content.append(byte) }
    }
    if isBytes { return RulesToken(kind: .bytes(content), text: text(start..<offset), range: start..<offset) }
    let value = String(decoding: content, as: UTF8.self)
    return RulesToken(kind: .string(value), text: value, range: start..<offset)
  }

  /// Reads the characters after a backslash.
  private mutating func escape(isBytes: Bool, into content: inout [UInt8]) throws(SyntaxFailure) {
    let start = offset - 1
    guard let byte = peek() else { return }
    offset += 1
    switch byte {
    case UInt8(ascii: "a"): content.append(0x07)
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0C)
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "v"): content.append(0x0B)
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "?"), UInt8(ascii: "`"):
      content.append(byte)
    case UInt8(ascii: "x"), UInt8(ascii: "X"): try code(digits: 2, radix: 16, start, isBytes, into: &content)
    case UInt8(ascii: "u"): try code(digits: 4, radix: 16, start, false, into: &content)
    case UInt8(ascii: "U"): try code(digits: 8, radix: 16, start, false, into: &content)
    case UInt8(ascii: "0")...UInt8(ascii: "3"):
      offset -= 1
      try code(digits: 3, radix: 8, start, isBytes, into: &content)
    default:
      throw SyntaxFailure(range: start..<offset, message: "Unknown escape sequence '\(text(start..<offset))'.")
    }
  }

  private mutating func code(
    digits: Int, radix: Int, _ start: Int, _ isByte: Bool, into content: inout [UInt8]
  ) throws(SyntaxFailure) {
    let end = min(offset + digits, bytes.count)
    let written = text(offset..<end)
    offset = end
    guard let value = UInt32(written, radix: radix), written.utf8.count == digits, !written.hasPrefix("+"),
      let scalar = Unicode.Scalar(value)
    else {
      throw SyntaxFailure(range: start..<end, message: "Unknown escape sequence '\(text(start..<end))'.")
    }
    if isByte { content.append(UInt8(truncatingIfNeeded: value)) } else { content += Array(String(scalar).utf8) }
  }
}

/// A token of the rules language.
struct RulesToken: Equatable {
  enum Kind: Equatable {
    case identifier
    case integer(Int64)
    case float(Double)
    case string(String)
    case bytes([UInt8])
    case symbol
    case end
  }

  var kind: Kind
  /// The source text of the token. For a string, the text does not include the quotes.
  var text: String
  var range: Range<Int>

  func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
  func isWord(_ word: String) -> Bool { kind == .identifier && text == word }

  /// The token in the format of error messages.
  var quoted: String { kind == .end ? "the end of the file" : "'\(text)'" }
}

/// A syntax error in a file of rules, and its position.
struct SyntaxFailure: Error {
  var range: Range<Int>
  var message: String
}

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

  /// The line and column of a byte, counted from 1. Columns are in UTF-16 code units, as in editors.
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
        // Every scalar counts once, at its first byte; a scalar of four bytes counts twice.
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

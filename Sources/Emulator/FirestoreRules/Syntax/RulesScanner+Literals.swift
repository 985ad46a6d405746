// SPDX-License-Identifier: Apache-2.0

extension RulesScanner {
  /// Reads a number: `1`, `1.5`, `1.` or `.5`; there is no exponent and no sign.
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

  /// Reads a string in single or double quotes, on one line; with `b` before the quotes, bytes.
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

  /// Reads the characters behind a backslash.
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

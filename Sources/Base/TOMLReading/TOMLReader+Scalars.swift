// SPDX-License-Identifier: Apache-2.0

/// Values without quotes and brackets.
extension TOMLReader {
  mutating func readScalar() throws(TOMLError) -> TOMLValue {
    let start = cursor.position
    var text = Array(cursor.take(while: Self.isOfScalar))
    // A space can separate the date from the time.
    if TOMLTime.isDate(text), cursor.next == UInt8(ascii: " "), let digit = cursor[1], (0x30...0x39).contains(digit) {
      cursor.advance()
      text.append(UInt8(ascii: " "))
      text += cursor.take(while: Self.isOfScalar)
    }
    let shown = String(decoding: text, as: UTF8.self)
    switch shown {
    case "": throw cursor.error("expected a value, found \(cursor.found)")
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "inf", "+inf": return .float(.infinity)
    case "-inf": return .float(-.infinity)
    case "nan", "+nan", "-nan": return .float(.nan)
    default: break
    }
    if TOMLTime.looksLikeOne(text) {
      guard TOMLTime.isValid(text) else { throw cursor.error("\(shown) is not a valid date or time", at: start) }
      return .time(shown)
    }
    guard let number = TOMLNumber(text) else {
      let isWord = text.contains { !(0x30...0x39).contains($0) && !Self.isOfNumber($0) }
      throw cursor.error("\(shown) is not a value\(isWord ? "; put text in quotes" : "")", at: start)
    }
    guard let value = number.value else { throw cursor.error("\(shown) does not fit into 64 bits", at: start) }
    return value
  }

  private static func isOfScalar(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"),
      UInt8(ascii: "."), UInt8(ascii: ":"):
      true
    default: false
    }
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool { "+-._".utf8.contains(byte) }
}

/// A number in TOML syntax.
private struct TOMLNumber {
  /// The integer or float; `nil` if the number exceeds 64 bits.
  let value: TOMLValue?

  /// - Returns: `nil` if the text is not a number.
  init?(_ text: [UInt8]) {
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.starts(with: prefix.utf8) {
      guard let digits = Self.digits(text.dropFirst(2), radix: radix) else { return nil }
      value = Int64(digits, radix: radix).map { .integer($0) }
      return
    }
    var rest = text[...]
    let sign = rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") ? rest.removeFirst() : nil
    let minus = sign == UInt8(ascii: "-") ? "-" : ""
    let whole = rest.prefix { Self.isDigit($0) || $0 == UInt8(ascii: "_") }
    rest = rest.dropFirst(whole.count)
    guard let digits = Self.digits(whole, radix: 10), digits == "0" || !digits.hasPrefix("0") else { return nil }
    if rest.isEmpty {
      value = Int64(minus + digits).map { .integer($0) }
      return
    }
    var number = minus + digits
    if rest.first == UInt8(ascii: ".") {
      let part = rest.dropFirst().prefix { Self.isDigit($0) || $0 == UInt8(ascii: "_") }
      guard let digits = Self.digits(part, radix: 10) else { return nil }
      number += "." + digits
      rest = rest.dropFirst(part.count + 1)
    }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest.removeFirst()
      number += "e"
      if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
        number += sign == UInt8(ascii: "-") ? "-" : ""
        rest.removeFirst()
      }
      guard let digits = Self.digits(rest, radix: 10) else { return nil }
      number += digits
      rest = []
    }
    guard rest.isEmpty, let double = Double(number) else { return nil }
    value = double.isFinite ? .float(double) : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The digits without the underscores between them; `nil` for an invalid digit or a misplaced underscore.
  private static func digits(_ text: ArraySlice<UInt8>, radix: Int) -> String? {
    let groups = text.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
    let isSound = groups.allSatisfy { group in
      !group.isEmpty
        && group.allSatisfy { byte in
          Character(Unicode.Scalar(byte)).hexDigitValue.map { $0 < radix } ?? false
        }
    }
    return isSound ? String(decoding: groups.joined(), as: UTF8.self) : nil
  }
}

/// Strings in quotes.
extension TOMLReader {
  /// Reads a one-line string in double quotes, in which escapes are allowed.
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

  /// Reads a one-line string in single quotes, without escapes.
  mutating func readLiteralString() throws(TOMLError) -> [UInt8] {
    let start = cursor.position
    cursor.advance()
    let text = cursor.take { !TOMLCursor.isControl($0) && $0 != UInt8(ascii: "'") }
    guard cursor.take("'" as Character) else { throw unended(start) }
    return Array(text)
  }

  /// Reads the rest of a `"""` string, which may have several lines and contain escapes.
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

  /// Reads the rest of a `'''` string, which may have several lines and has no escapes.
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

  /// Consumes the quotes at the cursor. One or two quotes may occur anywhere in a multi-line string, even directly
  /// before its end.
  /// - Returns: whether the string ends with these quotes.
  private mutating func takeEnd(_ quote: UInt8, of text: inout [UInt8]) -> Bool {
    var count = 0
    while count < 5, cursor[count] == quote { count += 1 }
    cursor.advance(by: count)
    text += Array(repeating: quote, count: count >= 3 ? count - 3 : count)
    return count >= 3
  }

  /// Consumes a backslash at the end of a line, and all whitespace and line ends that follow.
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
    default: throw cursor.error(#"expected b, t, n, f, r, ", \, u or U after a backslash"#, at: start)
    }
  }

  private mutating func readScalar(digits: Int, from start: Int) throws(TOMLError) -> [UInt8] {
    var number: UInt32 = 0
    for _ in 0..<digits {
      guard let byte = cursor.next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw cursor.error("expected \(digits) hexadecimal digits", at: start)
      }
      // There are at most eight digits.
      number = number << 4 | UInt32(digit)
      cursor.advance()
    }
    guard let scalar = Unicode.Scalar(number) else { throw cursor.error("this is not a Unicode scalar", at: start) }
    return Array(String(scalar).utf8)
  }

  private func unended(_ start: Int) -> TOMLError {
    if let next = cursor.next, next != 0x0A, !(next == 0x0D && cursor[1] == 0x0A) {
      return cursor.error("a string contains a control character; write it as \\u and four digits")
    }
    return cursor.error("this string has no end", at: start)
  }
}

/// Dates and times of RFC 3339, as in TOML: `1979-05-27T07:32:00.5-08:00`, or a part of it.
enum TOMLTime {
  /// Whether a text begins like a date or a time and not like a number.
  static func looksLikeOne(_ text: [UInt8]) -> Bool {
    let digits = text.prefix(while: isDigit).count
    guard digits < text.count else { return false }
    return (digits == 4 && text[4] == UInt8(ascii: "-")) || (digits == 2 && text[2] == UInt8(ascii: ":"))
  }

  static func isDate(_ text: [UInt8]) -> Bool {
    var rest = text[...]
    return takeDate(&rest) && rest.isEmpty
  }

  static func isValid(_ text: [UInt8]) -> Bool {
    var rest = text[...]
    if takeDate(&rest) {
      if rest.isEmpty { return true }
      guard let separator = rest.popFirst(), "Tt ".utf8.contains(separator) else { return false }
      return takeTime(&rest) && takeOffset(&rest)
    }
    rest = text[...]
    return takeTime(&rest) && rest.isEmpty
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// - Returns: `nil` if there are fewer digits.
  private static func number(_ rest: inout ArraySlice<UInt8>, digits: Int) -> Int? {
    let text = rest.prefix(digits)
    guard text.count == digits, text.allSatisfy(isDigit) else { return nil }
    rest = rest.dropFirst(digits)
    return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  private static func take(_ byte: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.first == UInt8(ascii: byte) else { return false }
    rest.removeFirst()
    return true
  }

  private static func takeDate(_ rest: inout ArraySlice<UInt8>) -> Bool {
    guard let year = number(&rest, digits: 4), take("-", &rest), let month = number(&rest, digits: 2),
      take("-", &rest), let day = number(&rest, digits: 2), (1...12).contains(month)
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[month - 1]).contains(day)
  }

  private static func takeTime(_ rest: inout ArraySlice<UInt8>) -> Bool {
    guard let hour = number(&rest, digits: 2), take(":", &rest), let minute = number(&rest, digits: 2),
      take(":", &rest), let second = number(&rest, digits: 2), hour < 24, minute < 60, second < 60
    else { return false }
    guard take(".", &rest) else { return true }
    let fraction = rest.prefix(while: isDigit).count
    rest = rest.dropFirst(fraction)
    return fraction > 0
  }

  /// Consumes the time zone offset, which is optional. Returns false if the text continues with anything else.
  private static func takeOffset(_ rest: inout ArraySlice<UInt8>) -> Bool {
    if rest.isEmpty { return true }
    if take("Z", &rest) || take("z", &rest) { return rest.isEmpty }
    guard take("+", &rest) || take("-", &rest), let hour = number(&rest, digits: 2), take(":", &rest),
      let minute = number(&rest, digits: 2)
    else { return false }
    return hour < 24 && minute < 60 && rest.isEmpty
  }
}

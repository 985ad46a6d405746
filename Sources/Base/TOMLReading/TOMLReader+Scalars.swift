// SPDX-License-Identifier: Apache-2.0

/// Values without quotes and brackets.
extension TOMLReader {
  mutating func readScalar() throws(TOMLError) -> TOMLValue {
    let start = cursor.position
    var text = Array(cursor.take(while: Self.isOfScalar))
    // A date and a time may be parted by a blank.
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
      guard TOMLTime.isValid(text) else { throw cursor.error("\(shown) is no date or time that there is", at: start) }
      return .time(shown)
    }
    guard let number = TOMLNumber(text) else {
      let isWord = text.contains { !(0x30...0x39).contains($0) && !Self.isOfNumber($0) }
      throw cursor.error("\(shown) is no value\(isWord ? "; a text stands in quotes" : "")", at: start)
    }
    guard let value = number.value else { throw cursor.error("\(shown) does not fit 64 bits", at: start) }
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

/// A number as TOML writes it.
private struct TOMLNumber {
  /// The integer or float; `nil` for a number that does not fit 64 bits.
  let value: TOMLValue?

  /// - Returns: `nil` for a text that is no number.
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

  /// The digits without the underscores between them; `nil` if one is no digit of the radix or an underscore is
  /// misplaced.
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

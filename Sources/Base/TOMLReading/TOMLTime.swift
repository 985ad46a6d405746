// SPDX-License-Identifier: Apache-2.0

/// Dates and times of RFC 3339, as TOML has them: `1979-05-27T07:32:00.5-08:00`, or a part of that.
enum TOMLTime {
  /// Whether a text begins as a date or a time, and as no number.
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

  /// - Returns: `nil` if fewer digits come.
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

  /// None is one too.
  private static func takeOffset(_ rest: inout ArraySlice<UInt8>) -> Bool {
    if rest.isEmpty { return true }
    if take("Z", &rest) || take("z", &rest) { return rest.isEmpty }
    guard take("+", &rest) || take("-", &rest), let hour = number(&rest, digits: 2), take(":", &rest),
      let minute = number(&rest, digits: 2)
    else { return false }
    return hour < 24 && minute < 60 && rest.isEmpty
  }
}

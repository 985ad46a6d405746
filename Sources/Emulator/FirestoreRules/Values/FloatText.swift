// SPDX-License-Identifier: Apache-2.0

/// The texts of floats as rules write and read them, which are those of Java.
enum FloatText {
  /// The shortest digits that read back the same: `1.5`, from ten million and below a thousandth `1.0E7`.
  static func text(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    let sign = number.sign == .minus ? "-" : ""
    if number == 0 { return sign + "0.0" }
    let (digits, exponent) = decimal(number.magnitude)
    if (-3..<7).contains(exponent) {
      if exponent < 0 { return sign + "0." + String(repeating: "0", count: -exponent - 1) + digits }
      let whole = digits.prefix(exponent + 1)
      let rest = digits.dropFirst(exponent + 1)
      let zeros = String(repeating: "0", count: max(0, exponent + 1 - digits.count))
      return sign + whole + zeros + "." + (rest.isEmpty ? "0" : rest)
    }
    let rest = digits.dropFirst()
    return sign + digits.prefix(1) + "." + (rest.isEmpty ? "0" : rest) + "E\(exponent)"
  }

  /// The significant digits, and the power of ten of the first one.
  private static func decimal(_ number: Double) -> (digits: String, exponent: Int) {
    let written = number.description
    let parts = written.split(separator: "e")
    let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    let whole = String(mantissa[0])
    let fraction = mantissa.count > 1 ? String(mantissa[1]) : ""
    var exponent = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) + whole.count - 1
    var digits = Substring(whole + fraction)
    while digits.first == "0", digits.count > 1 {
      digits = digits.dropFirst()
      exponent -= 1
    }
    while digits.last == "0", digits.count > 1 { digits = digits.dropLast() }
    return (String(digits), exponent)
  }

  /// - Returns: `nil` for what is no number. `NaN` and `Infinity` are.
  static func number(_ text: String) -> Double? {
    var bytes = Array(text.utf8)[...]
    while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    let unsigned = bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+") ? bytes.dropFirst() : bytes
    let sign: Double = bytes.first == UInt8(ascii: "-") ? -1 : 1
    let body = String(decoding: unsigned, as: UTF8.self)
    if body == "NaN" { return .nan }
    if body == "Infinity" { return sign * .infinity }
    guard let first = unsigned.first, first == UInt8(ascii: ".") || RulesScanner.isDigit(first) else { return nil }
    let isHexadecimal = body.hasPrefix("0x") || body.hasPrefix("0X")
    let hasSuffix = ["d", "D", "f", "F"].contains { body.hasSuffix($0) } && (!isHexadecimal || body.contains("p"))
    let digits = hasSuffix ? String(body.dropLast()) : body
    if isHexadecimal, !digits.contains(where: { $0 == "p" || $0 == "P" }) { return nil }
    return Double(digits.hasSuffix(".") ? digits + "0" : digits).map { sign * $0 }
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension RuleValue {
  /// The value as a literal, truncated to a number of characters.
  func text(atMost limit: Int) -> String {
    var writer = ValueWriter(limit: limit)
    writer.add(self)
    return writer.text.cut(to: limit)
  }
}

extension String {
  /// The text, truncated with an ellipsis to a maximum number of characters.
  func cut(to limit: Int) -> String { count > limit ? prefix(limit - 1) + "…" : self }
}

/// Writes values, and stops soon after its limit.
private struct ValueWriter {
  let limit: Int
  var text = ""

  private var isFull: Bool { text.utf8.count > 4 * limit }

  mutating func add(_ value: RuleValue) {
    switch value {
    case .null: text += "null"
    case .bool(let value): text += String(value)
    case .int(let value): text += String(value)
    case .float(let value): text += FloatText.text(value)
    case .string(let value): add(value)
    case .bytes(let bytes): text += "\(bytes.count) byte\(bytes.count == 1 ? "" : "s")"
    case .timestamp(let time): text += time.rfc3339Text
    case .duration(let span): add(span)
    case .latlng(let point): text += "latlng(\(FloatText.text(point.latitude)), \(FloatText.text(point.longitude)))"
    case .path(let path): text += path.segments.isEmpty ? "/" : path.text
    case .list(let values): add(values, "[", "]") { $0.add($1) }
    case .vector(let values): add(values, "vector [", "]") { $0.add(.float($1)) }
    case .set(let set): add(set)
    case .map(let map): add(map)
    case .mapDiff: text += "a difference of maps"
    case .constraint: text += "any value of the query's results"
    case .oneOf(let values): add(values, "one of [", "]") { $0.add($1) }
    }
  }

  private mutating func add(_ string: String) {
    text += "\""
    for scalar in string.unicodeScalars.prefix(limit + 1) {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  private mutating func add(_ span: RuleDuration) {
    let sign = span.seconds < 0 || span.nanoseconds < 0 ? "-" : ""
    let digits = String(span.nanoseconds.magnitude)
    let fraction = String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    text += sign + "\(span.seconds.magnitude)" + (span.nanoseconds == 0 ? "" : "." + fraction) + "s"
  }

  private mutating func add<Element>(
    _ values: [Element], _ start: String, _ end: String, _ add: (inout ValueWriter, Element) -> Void
  ) {
    text += start
    for (place, value) in values.enumerated() {
      if isFull { return }
      if place > 0 { text += ", " }
      add(&self, value)
    }
    text += end
  }

  /// Writes a set in a fixed order, since the text must be the same each time.
  private mutating func add(_ set: RuleSet) {
    guard set.elements.count <= Self.mostSorted else {
      text += "set of \(set.elements.count) values"
      return
    }
    add(set.elements.map { $0.value.text(atMost: limit) }.sorted(), "set [", "]") { writer, text in writer.text += text
    }
  }

  private static let mostSorted = 100

  private mutating func add(_ map: RuleMap) {
    add(map.entries.sorted, "{", "}") { writer, entry in
      writer.add(entry.name)
      writer.text += ": "
      writer.add(entry.value)
    }
  }
}

/// The texts of floats in rules, in Java's format.
enum FloatText {
  /// The shortest digits that parse to the same number, such as `1.5`. Numbers of at least ten million, or below a
  /// thousandth, have an exponent, such as `1.0E7`.
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

  /// - Returns: `nil` for text that is not a number. `NaN` and `Infinity` are numbers.
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

/// Bytes as text.
enum ByteText {
  private static let digits = Array("0123456789ABCDEF".utf8)
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The bytes in hexadecimal, with two capital digits for each byte.
  static func hexadecimal(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// The URL-safe base64 text with padding (RFC 4648 §5).
  static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      bits <<= UInt32(8 * (3 - group.count))
      for index in 0..<4 {
        text.append(index <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

// SPDX-License-Identifier: Apache-2.0

/// Converts bytes to hexadecimal text, two digits for each byte, and back.
package enum Hexadecimal {
  package static func text(_ bytes: [UInt8]) -> String {
    let digits = [UInt8]("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  /// Converts hexadecimal text to bytes.
  /// - Returns: `nil` if the text is not hexadecimal.
  package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}

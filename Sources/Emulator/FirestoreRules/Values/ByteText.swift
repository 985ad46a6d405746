// SPDX-License-Identifier: Apache-2.0

/// Bytes as text.
enum ByteText {
  private static let digits = Array("0123456789ABCDEF".utf8)
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Two capital digits for each byte.
  static func hexadecimal(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// RFC 4648 §5, the alphabet for addresses, padded.
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

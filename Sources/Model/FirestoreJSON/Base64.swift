// SPDX-License-Identifier: Apache-2.0

/// Base64 (RFC 4648 §4) with the standard alphabet and padding.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits: UInt32 = 0
      for byte in group { bits = bits << 8 | UInt32(byte) }
      bits <<= UInt32(8 * (3 - group.count))
      for index in 0..<4 {
        text.append(index <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)] : padding)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes Base64 text.
  /// - Returns: `nil` if the text contains other characters, lacks padding, or has nonzero trailing bits.
  package static func decode(_ text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count.isMultiple(of: 4) else { return nil }
    let content = characters.reversed().drop { $0 == padding }.count
    guard characters.count - content <= 2 else { return nil }

    var bytes: [UInt8] = []
    bytes.reserveCapacity(content * 3 / 4)
    var bits: UInt32 = 0
    var bitCount = 0
    for character in characters[..<content] {
      guard let sextet = sextet(character) else { return nil }
      bits = bits << 6 | UInt32(sextet)
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
        bits &= 1 << UInt32(bitCount) - 1
      }
    }
    return bits == 0 ? bytes : nil
  }

  /// Decodes Base64 text in the URL-safe alphabet (RFC 4648 §5), with or without padding.
  /// - Returns: `nil` under the same conditions as `decode`, except that padding may be missing.
  package static func decodeURL(_ text: String) -> [UInt8]? {
    var characters = text.utf8.map { character -> UInt8 in
      switch character {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      // Rejects characters of the other base64 alphabet.
      case UInt8(ascii: "+"), UInt8(ascii: "/"): 0
      default: character
      }
    }
    while !characters.count.isMultiple(of: 4) { characters.append(padding) }
    return decode(String(decoding: characters, as: UTF8.self))
  }

  private static func sextet(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

/// Codes a key in the notation of keymaps.
extension Key: Codable {
  package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

  package init(from decoder: any Decoder) throws {
    let text = try String(from: decoder)
    guard let key = Key(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\"\(text)\" is no key"))
    }
    self = key
  }
}

extension Key.Modifiers: Codable {
  package func encode(to encoder: any Encoder) throws { try rawValue.encode(to: encoder) }
  package init(from decoder: any Decoder) throws { self.init(rawValue: try UInt8(from: decoder)) }
}

// SPDX-License-Identifier: Apache-2.0

/// By the name of the set: there are two.
extension Glyphs: Codable {
  package func encode(to encoder: any Encoder) throws {
    try (self == .unicode ? "unicode" : "ascii").encode(to: encoder)
  }

  package init(from decoder: any Decoder) throws {
    self = try String(from: decoder) == "unicode" ? .unicode : .ascii
  }
}

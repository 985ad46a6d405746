// SPDX-License-Identifier: Apache-2.0

/// Codes a set of glyphs by its name: there are two sets.
extension Glyphs: Codable {
  package func encode(to encoder: any Encoder) throws {
    try (self == .unicode ? "unicode" : "ascii").encode(to: encoder)
  }

  package init(from decoder: any Decoder) throws {
    self = try String(from: decoder) == "unicode" ? .unicode : .ascii
  }
}

// SPDX-License-Identifier: Apache-2.0

/// SplitMix64: a small generator whose runs can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

extension String {
  /// Up to a dozen scalars, among which the awkward ones are frequent.
  static func random(using random: inout SeededGenerator) -> String {
    let awkward: [Unicode.Scalar] = [
      "a", "Z", " ", "漢", "🎉", "👨", "👩", "\u{200D}", "\u{FE0F}", "\u{1F3FD}", "\u{301}", "\u{202E}", "\u{1B}", "\n",
      "🇯", "🇵",
      "\u{1161}", "\u{1112}", "\u{E0041}", "▌", "\u{378}", "❤", "1", "\u{20E3}",
    ]
    var view = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...12, using: &random) {
      if Bool.random(using: &random), let scalar = Unicode.Scalar(UInt32.random(in: 0...0x1FFFF, using: &random)) {
        view.append(scalar)
      } else {
        view.append(awkward.randomElement(using: &random) ?? "a")
      }
    }
    return String(view)
  }
}

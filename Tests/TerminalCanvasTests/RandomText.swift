// SPDX-License-Identifier: Apache-2.0
import SeededRandom

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

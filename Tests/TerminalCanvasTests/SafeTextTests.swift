// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import TerminalCanvas

@Suite struct SafeTextTests {
  @Test(
    "Character widths follow the built-in table instead of the C library",
    arguments: [
      ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("漢字", 4), ("ｗｉｄｅ", 8), ("⚡", 2), ("🟢", 2), ("🫠", 2),
      ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("ไทย", 3), ("▌", 1), ("─", 1), ("✈\u{FE0F}", 1), ("🎉", 2),
      ("\u{1FADF}", 2), ("\u{3000}", 2), ("\u{A0}", 1),
    ])
  func widths(text: String, columns: Int) {
    #expect(SafeText.columns(of: text) == columns)
    #expect(SafeText.columns(of: SafeText.sanitized(text)) == columns)
  }

  @Test(
    "Characters that move the cursor, reorder or hide text are escaped",
    arguments: [
      ("a\nb\tc\rd", #"a\nb\tc\rd"#), ("\u{1B}[2J", "␛[2J"), ("\u{0}\u{7}\u{7F}", "␀␇␡"), ("\u{9B}31m", "⟨U+009B⟩31m"),
      ("user\u{202E}gpj.exe", "user⟨U+202E⟩gpj.exe"), ("\u{2066}x\u{2069}", "⟨U+2066⟩x⟨U+2069⟩"),
      ("a\u{200B}b", "a⟨U+200B⟩b"), ("\u{FEFF}a", "⟨U+FEFF⟩a"), ("\u{E0041}", "⟨U+E0041⟩"),
      ("a\u{E0100}", "a⟨U+E0100⟩"), ("a\u{2028}b", "a⟨U+2028⟩b"), ("x\u{200D}y", "x⟨U+200D⟩y"),
      ("\u{3164}", "⟨U+3164⟩"),
      ("soft\u{AD}hyphen", "soft⟨U+00AD⟩hyphen"), ("a\u{34F}b", "a⟨U+034F⟩b"),
    ])
  func unsafeText(text: String, shown: String) {
    #expect(Array(SafeText.sanitized(text).unicodeScalars) == Array(shown.unicodeScalars))
  }

  @Test(
    "Emoji sequences become text that all terminals draw alike",
    arguments: [
      ("👍🏽", "👍"), ("👨‍👩‍👧!", "👨+!"), ("❤️", "❤"), ("👩🏽‍❤️‍👩🏻.", "👩+."), ("🇯🇵", "JP"), ("🏽", "🏽"),
      ("\u{378}", "▯"), ("\u{E000}", "▯"), ("\u{301}x", "◌\u{301}x"), ("🏴‍☠️ x", "🏴+ x"),
    ])
  func emoji(text: String, shown: String) {
    #expect(Array(SafeText.sanitized(text).unicodeScalars) == Array(shown.unicodeScalars))
  }

  @Test("A character keeps at most two combining marks and the width of its base")
  func zalgo() {
    let clusters = Array(SafeText("a" + String(repeating: "\u{301}", count: 50) + "b"))

    #expect(clusters.map(\.width) == [1, 1])
    #expect(clusters[0].scalars.count == 3)
  }

  @Test("Making text safe for terminals is idempotent")
  func idempotent() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<500 {
      let text = String.random(using: &random)
      let once = SafeText.sanitized(text)

      #expect(Array(SafeText.sanitized(once).unicodeScalars) == Array(once.unicodeScalars), "\(text.debugDescription)")
    }
  }

  @Test(
    "Truncated text fits its columns and shows the truncation",
    arguments: [
      ("abcdef", 6, "abcdef"), ("abcdefg", 6, "abcde…"), ("abc", 1, "…"), ("abc", 0, ""), ("a", 1, "a"),
      ("漢字漢", 5, "漢字…"),
      ("漢字", 4, "漢字"), ("漢字", 3, "漢…"), ("漢", 1, "…"), ("a\nb", 4, #"a\nb"#), ("a\nb", 3, #"a\…"#), ("abc", -1, ""),
    ])
  func truncation(text: String, columns: Int, shown: String) {
    #expect(SafeText.truncated(text, to: columns) == shown)
  }

  @Test("Truncated text never exceeds the given number of columns")
  func truncationProperty() {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<500 {
      let text = String.random(using: &random)
      let columns = Int.random(in: 0...12, using: &random)

      #expect(SafeText.columns(of: SafeText.truncated(text, to: columns)) <= columns, "\(text.debugDescription)")
    }
  }
}

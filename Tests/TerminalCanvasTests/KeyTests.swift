// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TerminalCanvas

@Suite struct KeyTests {
  @Test(
    "The notation of keymaps survives reading and printing",
    arguments: [
      "j", "G", "ctrl-d", "shift-tab", "space", "enter", "esc", "tab", "f1", "f12", "alt-x", "ctrl-alt-up", "pgup",
      "pgdn",
      "home", "end", "del", "ins", "backspace", "/", "?", "-", "+", "_", "|", "ctrl-space", "shift-up", "漢", "ctrl-_",
      "f",
      "alt-f", "alt--", "%", "ctrl-w",
    ])
  func roundTrip(text: String) {
    #expect(Key(text)?.description == text)
  }

  @Test(
    "Different spellings of what a terminal sends alike are one key",
    arguments: [
      ("ctrl-m", "enter"), ("ctrl-i", "tab"), ("ctrl-[", "esc"), ("ctrl-h", "backspace"), ("shift-a", "A"),
      ("Ctrl-D", "ctrl-d"),
      ("escape", "esc"), ("PageUp", "pgup"), ("backtab", "shift-tab"), ("alt-ctrl-x", "ctrl-alt-x"), ("F5", "f5"),
    ])
  func aliases(spelling: String, canonical: String) {
    #expect(Key(spelling) == Key(canonical))
    #expect(Key(spelling)?.description == canonical)
  }

  @Test("What is not a key has no value", arguments: ["", "ctrl-", "foo", "f0", "f99", "\n", "\u{1B}", "ab"])
  func nonsense(text: String) {
    #expect(Key(text) == nil)
  }

  @Test("Only unmodified characters are typed into a field")
  func typed() {
    #expect(Key("G")?.typedCharacter == "G")
    #expect(Key("space")?.typedCharacter == " ")
    #expect(Key("ctrl-d")?.typedCharacter == nil)
    #expect(Key("enter")?.typedCharacter == nil)
  }
}

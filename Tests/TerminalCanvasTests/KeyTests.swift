// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TerminalCanvas

@Suite struct KeyTests {
  @Test(
    "Keymap notation round-trips",
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
    "Two notations for the same terminal input are the same key",
    arguments: [
      ("ctrl-m", "enter"), ("ctrl-i", "tab"), ("ctrl-[", "esc"), ("ctrl-h", "backspace"), ("shift-a", "A"),
      ("Ctrl-D", "ctrl-d"),
      ("escape", "esc"), ("PageUp", "pgup"), ("backtab", "shift-tab"), ("alt-ctrl-x", "ctrl-alt-x"), ("F5", "f5"),
    ])
  func aliases(spelling: String, canonical: String) {
    #expect(Key(spelling) == Key(canonical))
    #expect(Key(spelling)?.description == canonical)
  }

  @Test(
    "An invalid key name is not parsed as a key", arguments: ["", "ctrl-", "foo", "f0", "f99", "\n", "\u{1B}", "ab"])
  func nonsense(text: String) {
    #expect(Key(text) == nil)
  }

  @Test("Only keys without modifiers type a character into a field")
  func typed() {
    #expect(Key("G")?.typedCharacter == "G")
    #expect(Key("space")?.typedCharacter == " ")
    #expect(Key("ctrl-d")?.typedCharacter == nil)
    #expect(Key("enter")?.typedCharacter == nil)
  }
}

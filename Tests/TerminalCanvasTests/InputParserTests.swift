// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import TerminalCanvas

@Suite struct InputParserTests {
  private static func key(_ text: String) -> InputEvent { .key(Key(text) ?? .character("?")) }

  private static func mouse(
    _ kind: MouseEvent.Kind, _ button: MouseEvent.Button, _ x: Int, _ y: Int, _ modifiers: Key.Modifiers = []
  ) -> InputEvent {
    .mouse(MouseEvent(kind: kind, button: button, x: x, y: y, modifiers: modifiers))
  }

  /// Bytes as terminals send them, and what they mean.
  static let recorded: [(String, [InputEvent])] = [
    ("a", [key("a")]), ("G", [key("G")]), (" ", [key("space")]), ("漢é", [key("漢"), key("é")]),
    ("\r\t\u{7F}\u{8}", [key("enter"), key("tab"), key("backspace"), key("backspace")]),
    ("\u{0}\u{1}\u{1A}\n\u{1C}\u{1F}", ["ctrl-space", "ctrl-a", "ctrl-z", "ctrl-j", "ctrl-\\", "ctrl-_"].map(key)),
    ("\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}OD", ["up", "down", "right", "left"].map(key)),
    ("\u{1B}[H\u{1B}OF\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~", ["home", "end", "home", "end", "home", "end"].map(key)),
    ("\u{1B}[2~\u{1B}[3~\u{1B}[5~\u{1B}[6~\u{1B}[Z", ["ins", "del", "pgup", "pgdn", "shift-tab"].map(key)),
    (
      "\u{1B}[1;5C\u{1B}[1;2A\u{1B}[3;3~\u{1B}[1;8D",
      ["ctrl-right", "shift-up", "alt-del", "ctrl-alt-shift-left"].map(key)
    ),
    (
      "\u{1B}OP\u{1B}[15~\u{1B}[24~\u{1B}[[A\u{1B}[1;5R\u{1B}[17~\u{1B}[21~",
      ["f1", "f5", "f12", "f1", "ctrl-f3", "f6", "f10"].map(key)
    ),
    ("\u{1B}x\u{1B}X3\u{1B}\\", [key("alt-x"), .reply(.other)]), ("\u{1B}é\u{1B}\r", [key("alt-é"), key("alt-enter")]),
    ("\u{1B}\u{1B}[0n", [key("esc"), .reply(.drawn)]), ("\u{1B}\u{1B}[I", [key("esc"), .focus(true)]),
    ("\u{1B}\u{1B}[<64;3;9M", [key("esc"), .mouse(MouseEvent(kind: .wheelUp, button: .none, x: 2, y: 8))]),
    ("\u{1B}\u{1B}[200~a\u{1B}[201~", [key("esc"), .paste("a")]),
    ("\u{1B}\u{1B}[A", [key("alt-up")]), ("\u{1B}\u{1B}x", [key("esc"), key("alt-x")]),
    ("\u{1B}[27;5;13~\u{1B}[97;5u\u{1B}[13u", ["ctrl-enter", "ctrl-a", "enter"].map(key)),
    (
      "\u{1B}[<0;10;5M\u{1B}[<0;10;5m\u{1B}[<34;1;1M",
      [mouse(.press, .left, 9, 4), mouse(.release, .left, 9, 4), mouse(.drag, .right, 0, 0)]
    ),
    (
      "\u{1B}[<64;300;90M\u{1B}[<81;2;3M\u{1B}[<35;4;4M",
      [mouse(.wheelUp, .none, 299, 89), mouse(.wheelDown, .none, 1, 2, .ctrl)]
    ),
    ("\u{1B}[M !!q", [key("q")]),
    ("\u{1B}[200~a\u{1B}[31mb\u{1B}[20\r\n漢\u{1B}[201~z", [.paste("a\u{1B}[31mb\u{1B}[20\r\n漢"), key("z")]),
    ("\u{1B}[200~\u{1B}\u{1B}[201~", [.paste("\u{1B}")]),
    ("\u{1B}[I\u{1B}[O", [.focus(true), .focus(false)]),
    ("\u{1B}[0nq", [.reply(.drawn), key("q")]), ("\u{1B}[24;80Rq", [.reply(.other), key("q")]),
    ("\u{1B}]11;rgb:1111/2222/3333\u{7}q", [.reply(.operatingSystem("11;rgb:1111/2222/3333")), key("q")]),
    ("\u{1B}]11;x\u{1B}\\q", [.reply(.operatingSystem("11;x")), key("q")]),
    ("\u{1B}P>|tmux 3.3a\u{1B}\\\u{1B}[?2026;2$y\u{1B}[?62;c", [.reply(.other), .reply(.other), .reply(.other)]),
  ]

  @Test("A recorded input sequence gives the same events however it is split", arguments: recorded)
  func splits(text: String, events: [InputEvent]) {
    let bytes = Array(text.utf8)
    var whole = InputParser()
    #expect(whole.feed(bytes) == events)
    #expect(!whole.needsFlush)

    for split in 0...bytes.count {
      var parser = InputParser()
      #expect(parser.feed(bytes[..<split]) + parser.feed(bytes[split...]) == events, "split at \(split)")
    }
    var single = InputParser()
    #expect(bytes.flatMap { single.feed([$0]) } == events)
  }

  @Test(
    "An ambiguous input prefix becomes a key after a pause",
    arguments: [
      ("\u{1B}", ["esc"]), ("\u{1B}\u{1B}", ["esc", "esc"]), ("\u{1B}[", ["alt-["]), ("\u{1B}O", ["alt-O"]),
      ("\u{1B}]", ["alt-]"]), ("\u{1B}\u{1B}[", ["esc", "alt-["]),
    ])
  func flushing(text: String, keys: [String]) {
    var parser = InputParser()

    #expect(parser.feed(text.utf8) == [])
    #expect(parser.needsFlush)
    #expect(parser.flush() == keys.map(Self.key))
    #expect(!parser.needsFlush)
    #expect(parser.feed("j".utf8) == [Self.key("j")])
  }

  @Test(
    "Flushing input does not turn half a sequence into a key",
    arguments: ["\u{1B}[1;", "\u{1B}]11;rgb", "\u{1B}[200~abc\u{1B}"])
  func unflushed(text: String) {
    var parser = InputParser()

    #expect(parser.feed(text.utf8) == [])
    #expect(!parser.needsFlush)
    #expect(parser.flush() == [])
  }

  @Test(
    "A control byte ends an unfinished sequence so that the keyboard never locks",
    arguments: ["\u{1B}[1;2", "\u{1B}]11;rgb", "\u{1B}P1$r", "\u{1B}O", "\u{1B}[["])
  func recovery(text: String) {
    var parser = InputParser()

    #expect(parser.feed((text + "\u{3}q").utf8) == [Self.key("ctrl-c"), Self.key("q")])
  }

  @Test("Malformed UTF-8 and endless sequences are dropped")
  func malformed() {
    var parser = InputParser()

    #expect(parser.feed([0xFF, 0xC0, 0x80, 0xE2, 0x61]) == [Self.key("a")])
    #expect(parser.feed([0xED, 0xA0, 0x80, 0xF5, 0xC2, 0x9B, 0x62]) == [Self.key("b")])
    let endless = parser.feed(Array("\u{1B}[".utf8) + Array(repeating: UInt8(ascii: ";"), count: 62) + Array("Q".utf8))
    #expect(endless == [Self.key("Q")])
    #expect(parser.feed("\u{1B}[99999999999999999999999A".utf8) == [Self.key("up")])
    #expect(parser.feed("\u{1B}[<99999999999;99999999999;999999999M".utf8) == [])
  }

  @Test("A paste over the limit is truncated and ends at its end marker")
  func longPaste() {
    var parser = InputParser()
    let text = String(repeating: "x", count: (1 << 20) + 5)
    let events = parser.feed("\u{1B}[200~\(text)\u{1B}[201~q".utf8)

    #expect(events == [.paste(String(repeating: "x", count: 1 << 20)), Self.key("q")])
  }

  @Test("Random input bytes never trap and parse the same however they are split")
  func fuzz() {
    var random = SeededGenerator(seed: 42)
    let alphabet = Array("\u{1B}\u{1B}\u{1B}[[[O]P?<;:0159~AMRmnuZI\\\u{7}\u{3}\rx é漢".utf8) + [0xFF, 0x80, 0xE2]
    for round in 0..<3000 {
      let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
        Int.random(in: 0...4, using: &random) == 0
          ? UInt8.random(in: 0...255, using: &random) : alphabet.randomElement(using: &random) ?? 0
      }
      var whole = InputParser()
      var single = InputParser()
      let events = whole.feed(bytes)

      #expect(bytes.flatMap { single.feed([$0]) } == events, "seed 42 round \(round): \(bytes)")
      #expect(whole.flush() == single.flush())
    }
  }
}

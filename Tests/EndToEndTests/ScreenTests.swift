// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Testing

extension EndToEndTests.InTmux {
  @Suite(.serialized) struct ScreenTests {
    @Test("The screen follows the terminal's size down to a single line and back")
    func sizes() async throws {
      let surroundings = try Surroundings()
      let hearth = try await TmuxTerminal(["--demo"], in: surroundings)
      try await hearth.wait("1 Collections")

      for (width, height) in [(80, 24), (60, 16), (40, 12), (24, 4), (10, 2), (1, 1), (120, 36)] {
        try await hearth.resize(width, height)
        try await hearth.wait(for: "\(width)×\(height)") { screen in
          guard screen.lines.count == height, screen.lines.allSatisfy({ $0.cells <= width }) else { return false }
          let first = screen.lines[0]
          if width < 24 { return width == 1 || first.contains("⇡") }
          // A frame of another size would leave the line cut off or too short.
          return first.contains("⇡") && (first.contains("● ON") || first.contains("●ON")) && first.contains("/s")
            && (width < 80 || screen.lines.last?.contains("help") == true)
        }
      }
      try await hearth.wait("1 Collections")
      try await hearth.keys("q")
      #expect(try await hearth.exitStatus() == 0)
    }

    @Test(
      "The program starts, draws a screen and quits on every type of terminal",
      arguments: [
        ["TERM": "xterm-256color"], ["TERM": "screen"], ["TERM": "linux"], ["TERM": "vt100"], ["NO_COLOR": "1"],
        ["LANG": "C"],
      ])
    func terminals(extra: [String: String]) async throws {
      let hearth = try await TmuxTerminal(["--in-memory"], in: Surroundings(), width: 80, height: 24, extra: extra)
      try await hearth.wait(for: "the whole screen") {
        $0.text.contains("1 Collections") && $0.text.contains("local database") && $0.text.contains("/ filter")
      }
      if extra["LANG"] == "C" { #expect(hearth.text.utf8.allSatisfy { $0 < 0x80 }) }
      try await hearth.keys("q")
      #expect(try await hearth.exitStatus() == 0)
      #expect(!hearth.text.contains("1 Collections"))
    }

    @Test("Wide, joined and right-to-left text does not move the borders")
    func widths() async throws {
      let surroundings = try Surroundings()
      let texts = ["日本語の名前", "🎉 party 🎉", "منى القاهرة", "עברית", "e\u{301}te\u{301}", "한국어", "plain"]
      try await surroundings.seed(
        "texts", Dictionary(uniqueKeysWithValues: texts.enumerated().map { ("d\($0)", $1) }))
      let hearth = try await TmuxTerminal(in: surroundings)
      try await hearth.wait("texts")
      try await hearth.keys("Space", "l")
      try await hearth.wait(for: "all documents") { screen in
        (0..<texts.count).allSatisfy { screen.rows("d\($0)  ").count >= 1 }
      }
      // The terminal may be seen in the middle of a frame.
      try await hearth.wait(for: "a frame with its borders in place") { screen in
        guard screen.text.contains("日本語"),
          let top = screen.lines.firstIndex(where: { $0.hasPrefix("╭─ 1 Collections") }),
          let end = screen.lines.lastIndex(where: { $0.hasPrefix("╰") })
        else { return false }
        return screen.lines[(top + 1)..<end].allSatisfy { $0.cells == 120 && $0.borderCells.prefix(2) == [0, 69] }
          && screen.lines.allSatisfy { $0.cells <= 120 }
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import CNcurses
import FirestoreTesting
import Glibc
import SeededRandom
import TerminalCanvas
import TerminalTesting
import TerminalTheme
import Testing

@testable import Terminal

/// The bytes that reach a terminal, without one. Serialized because ncurses has one screen.
@MainActor @Suite(.serialized) struct PainterTests {
  init() { setlocale(LC_ALL, "C.UTF-8") }

  private func painter(
    _ size: Size, terminal: String = "xterm-256color", theme: String = "ember", environment: [String: String] = [:],
    wish: ColorDepth? = nil
  ) throws -> Painter {
    let theme = try ThemeCatalog().theme(named: theme).theme
    return try Painter(terminal: terminal, size: size, theme: theme, environment: environment, wish: wish)
  }

  /// Something like the dashboard: two panes over a full-width feed.
  private func dashboard(_ size: Size, selected: Int = 0, clock: Int = 0, events: Int = 0) -> Canvas {
    var canvas = Canvas(size: size)
    canvas.put("hearth demo-shop ● ONLINE  12:04:\(10 + clock)", at: Point(x: 1, y: 0), role: .header)
    canvas.box(Rect(x: 0, y: 1, width: size.width / 2, height: size.height / 2))
    canvas.box(Rect(x: size.width / 2, y: 1, width: size.width - size.width / 2, height: size.height / 2))
    canvas.put(" 1 Collections ", at: Point(x: 2, y: 1), role: .paneTitleFocus)
    for row in 0..<size.height / 2 - 3 {
      let y = size.height / 2 + 2 + row
      canvas.put("12:04:15.\(100 + row + events)", at: Point(x: 2, y: y), role: .textMuted)
      canvas.put("~", at: Point(x: 16, y: y), role: .changeModified)
      canvas.put("orders/漢字\(10 + row + events)  status \"paid\"→\"packed\"", at: Point(x: 18, y: y))
      if row == selected {
        canvas.put("▌", at: Point(x: 0, y: y), role: .cursorGutter)
      }
    }
    return canvas
  }

  @Test(
    "A terminal like xterm without a description is drawn as xterm-256color",
    arguments: ["xterm-kitty", "xterm-ghostty"])
  func replaced(_ terminal: String) throws {
    let theme = try ThemeCatalog().theme(named: "ember").theme
    let nowhere = ["TERMINFO": "/nowhere"]
    let painter = try Painter(
      terminal: terminal + "-of-tests", size: Size(width: 20, height: 4), theme: theme, environment: nowhere, wish: nil)
    defer { painter.close() }
    #expect(painter.replacement == "xterm-256color")
    #expect(TerminalCapabilities.relative(of: "vt52") == nil)
  }

  @Test("Frames for no change, first paints, moves and events stay within byte budgets")
  func budgets() throws {
    let size = Size(width: 120, height: 36)
    let painter = try painter(size)
    defer { painter.close() }

    let first = painter.frame(dashboard(size))
    let unchanged = painter.frame(dashboard(size))
    let clock = painter.frame(dashboard(size, clock: 1))
    let moved = painter.frame(dashboard(size, selected: 1, clock: 1))
    let event = painter.frame(dashboard(size, selected: 1, clock: 1, events: 1))

    _ = painter.frame(dashboard(size, selected: -1, clock: 1, events: 1))
    let followed = painter.frame(dashboard(size, selected: -1, clock: 1, events: 2))

    #expect((1...6144).contains(first.count))
    #expect(unchanged == [])
    #expect((1...64).contains(clock.count))
    #expect((1...160).contains(moved.count))
    #expect((1...200).contains(event.count))
    #expect((1...150).contains(followed.count), "\(String(decoding: followed, as: UTF8.self).debugDescription)")
  }

  @Test(
    "After each frame the terminal shows the canvas",
    arguments: ["xterm-256color", "screen", "linux"])
  func fidelity(terminal: String) throws {
    let size = Size(width: 24, height: 8)
    var random = SeededGenerator(seed: 5)
    let painter = try painter(size, terminal: terminal)
    defer { painter.close() }
    var shown = TerminalModel(size: size)
    for round in 0..<TestSize.count(80, full: 200) {
      var canvas = Canvas(size: size)
      for _ in 0..<Int.random(in: 0...10, using: &random) {
        let point = Point(x: Int.random(in: -2...24, using: &random), y: Int.random(in: 0...8, using: &random))
        canvas.put(
          ["orders/", "漢字", "e\u{301}x", "界", "─────────", "          ", "🎉", "12:04"].randomElement(using: &random)
            ?? "",
          at: point, role: [.text, .warn, .selection].randomElement(using: &random) ?? .text)
      }
      shown.interpret(painter.frame(canvas))

      #expect(shown.text == (0..<8).map { canvas.text(row: $0) }, "\(terminal), seed 5 round \(round)")
    }
  }

  @Test("A character with a different width in the C library never reaches ncurses")
  func disagreement() throws {
    let size = Size(width: 10, height: 1)
    let painter = try painter(size)
    defer { painter.close() }
    var shown = TerminalModel(size: size)
    var canvas = Canvas(size: size)
    // Circled numbers: narrow by the table of the module, wide by that of glibc.
    canvas.put("a\u{3248}b", at: Point(x: 0, y: 0))
    shown.interpret(painter.frame(canvas))

    #expect(shown.text == [wcwidth(0x3248) == 1 ? "a\u{3248}b       " : "a?b       "])
  }

  @Test("Leaving restores the main screen, and the next frame repaints everything")
  func leaving() throws {
    let size = Size(width: 40, height: 5)
    let painter = try painter(size)
    defer { painter.close() }
    var canvas = Canvas(size: size)
    canvas.put("hello", at: Point(x: 0, y: 0))
    let first = String(decoding: painter.frame(canvas), as: UTF8.self)
    let left = String(decoding: painter.leave(), as: UTF8.self)
    let again = String(decoding: painter.frame(canvas), as: UTF8.self)

    #expect(first.contains("\u{1B}[?1049h") && first.contains("hello") && first.contains("\u{1B}[?25l"))
    #expect(left.contains("\u{1B}[?1049l") && left.contains("\u{1B}[?25h") || left.contains("\u{1B}[?12l"))
    #expect(again.contains("\u{1B}[?1049h") && again.contains("hello") && again.contains("\u{1B}[?25l"))
  }

  @Test("The cursor shows at its position on the canvas and hides again")
  func cursor() throws {
    let size = Size(width: 10, height: 3)
    let painter = try painter(size)
    defer { painter.close() }
    var canvas = Canvas(size: size)
    _ = painter.frame(canvas)
    canvas.cursor = Point(x: 4, y: 1)
    let shown = String(decoding: painter.frame(canvas), as: UTF8.self)
    canvas.cursor = Point(x: 40, y: 1)
    let hidden = String(decoding: painter.frame(canvas), as: UTF8.self)

    #expect(shown.contains("\u{1B}[?25h") || shown.contains("\u{1B}[?12l"))
    #expect(hidden.contains("\u{1B}[?25l"))
  }

  @Test("A theme switch and a resize repaint, with a canvas of any size")
  func changes() throws {
    let painter = try painter(Size(width: 20, height: 4))
    defer { painter.close() }
    var canvas = Canvas(size: Size(width: 30, height: 2))
    canvas.put("0123456789012345678901234", at: Point(x: 0, y: 1))
    var shown = TerminalModel(size: Size(width: 20, height: 4))
    shown.interpret(painter.frame(canvas))
    #expect(shown.text[1] == "01234567890123456789")

    painter.setTheme(try ThemeCatalog().theme(named: "paper").theme)
    #expect(!painter.frame(canvas).isEmpty)
    #expect(painter.frame(canvas) == [])

    painter.resize(to: Size(width: 24, height: 3))
    var larger = TerminalModel(size: Size(width: 24, height: 3))
    larger.interpret(painter.frame(canvas))
    #expect(larger.text[1] == "012345678901234567890123")
  }

  @Test(
    "Colors follow the terminal, NO_COLOR and the user's option",
    arguments: [
      ("xterm-256color", [:], nil, ColorDepth.c256), ("xterm", [:], nil, .eight), ("vt100", [:], nil, .mono),
      ("linux", [:], nil, .eight), ("xterm-256color", ["NO_COLOR": "1"], nil, .mono),
      ("xterm-256color", ["NO_COLOR": ""], nil, .c256), ("xterm-256color", ["NO_COLOR": "1"], .c256, .c256),
      ("xterm-256color", ["COLORTERM": "truecolor"], nil, .trueColor),
      ("xterm", ["COLORTERM": "truecolor"], nil, .eight),
      ("screen-256color", ["COLORTERM": "24bit"], nil, .trueColor), ("tmux-256color", [:], .trueColor, .trueColor),
      ("xterm-256color", ["COLORTERM": "truecolor"], .c256, .c256),
      ("xterm-256color", ["COLORTERM": "truecolor", "NO_COLOR": "1"], nil, .mono),
      ("xterm-256color", [:], .sixteen, .sixteen), ("vt100", [:], .trueColor, .mono),
    ] as [(String, [String: String], ColorDepth?, ColorDepth)])
  func depths(terminal: String, environment: [String: String], wish: ColorDepth?, depth: ColorDepth) throws {
    let painter = try painter(Size(width: 10, height: 2), terminal: terminal, environment: environment, wish: wish)
    defer { painter.close() }
    var canvas = Canvas(size: Size(width: 10, height: 2))
    canvas.put("x", at: Point(x: 0, y: 0), role: .error)
    let bytes = String(decoding: painter.frame(canvas), as: UTF8.self)

    #expect(painter.depth == depth)
    #expect((bytes.firstMatch(of: /[\[;]3[0-8]/) != nil) == (depth != .mono))
  }

  @Test("True color sends the theme's colors and leaves the environment unchanged")
  func directColor() throws {
    let size = Size(width: 10, height: 2)
    let painter = try painter(size, environment: ["COLORTERM": "truecolor"])
    defer { painter.close() }
    var canvas = Canvas(size: size)
    canvas.put("x", at: Point(x: 0, y: 0), role: .accent)
    let bytes = String(decoding: painter.frame(canvas), as: UTF8.self)

    #expect(bytes.contains("38;2;255;180;84") && bytes.contains("48;2;17;20;26"))
    #expect(getenv("TERMINFO").map { !String(cString: $0).hasPrefix("b64:") } ?? true)
  }

  @Test("A truncated or invalid terminal description is rejected")
  func damagedDescription() {
    #expect(DirectColorDescription([]) == nil)
    #expect(DirectColorDescription(Array(repeating: 0xFF, count: 4000)) == nil)
    #expect(DirectColorDescription(terminal: "../../etc/passwd", environment: [:]) == nil)
    #expect(DirectColorDescription(terminal: "vt100", environment: [:]) == nil)
    guard let whole = DirectColorDescription(terminal: "xterm-256color", environment: [:])?.compiled else { return }
    for length in stride(from: 0, to: 1200, by: 7) { #expect(DirectColorDescription(Array(whole[..<length])) == nil) }
  }

  @Test(
    "An unusable terminal is an error with advice",
    arguments: [("nonsense", TerminalError.Code.unknownTerminal), ("dumb", .unusableTerminal)])
  func unusable(terminal: String, code: TerminalError.Code) {
    #expect {
      _ = try painter(Size(width: 10, height: 2), terminal: terminal)
    } throws: { error in
      (error as? TerminalError)?.code == code && "\(error)".contains("TERM") && !"\(error)".contains("\n")
    }
  }

  @Test("The painter works at any screen size", arguments: [(1, 1), (1, 3), (2, 1), (500, 1), (3, 300)])
  func sizes(width: Int, height: Int) throws {
    let size = Size(width: width, height: height)
    let painter = try painter(size)
    defer { painter.close() }
    var canvas = Canvas(size: size)
    canvas.put("漢字漢字", at: Point(x: 0, y: height - 1))
    var shown = TerminalModel(size: size)
    shown.interpret(painter.frame(canvas))

    #expect(shown.text.last == canvas.text(row: height - 1))
  }
}

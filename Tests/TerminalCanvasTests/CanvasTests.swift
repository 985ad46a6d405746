// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import TerminalTesting
import Testing

@testable import TerminalCanvas

@Suite struct CanvasTests {
  /// Every row is exactly as wide as the canvas and no half of a wide cluster stands alone.
  private func expectWhole(_ canvas: Canvas, _ context: String = "") {
    for y in 0..<canvas.size.height {
      var x = 0
      while x < canvas.size.width {
        let width = canvas[x, y].width
        #expect(
          width == 1 || (width == 2 && x + 1 < canvas.size.width && canvas[x + 1, y].width == 0), "\(x),\(y) \(context)"
        )
        x += max(1, width)
      }
      #expect(SafeText.columns(of: canvas.text(row: y)) == canvas.size.width, "row \(y) \(context)")
    }
  }

  @Test("Text is clipped at the right edge, the maximum width and the clip rectangle")
  func clipping() {
    var canvas = Canvas(size: Size(width: 8, height: 2))

    #expect(canvas.put("abcdef", at: Point(x: 5, y: 0)) == 3)
    #expect(canvas.put("abcdef", at: Point(x: -2, y: 1), maxWidth: 4) == 4)
    #expect(canvas.put("xyz", at: Point(x: 4, y: 1), clip: Rect(x: 5, y: 0, width: 1, height: 2)) == 2)

    #expect(canvas.text(row: 0) == "     abc")
    #expect(canvas.text(row: 1) == "cd   y  ")
  }

  @Test("Chained text is drawn consecutively")
  func chaining() {
    var canvas = Canvas(size: Size(width: 10, height: 1))
    var x = canvas.put("漢", at: Point(x: 0, y: 0))
    x += canvas.put("e\u{301}", at: Point(x: x, y: 0), role: .warn)
    canvas.put("!", at: Point(x: x, y: 0))

    #expect(canvas.text(row: 0) == "漢e\u{301}!      ")
    #expect(canvas[0, 0].width == 2)
    #expect(canvas[1, 0].text == "")
    #expect(canvas[2, 0].role == .warn)
  }

  @Test("A wide character that does not fit in the last column becomes a space")
  func wideAtEdge() {
    var canvas = Canvas(size: Size(width: 3, height: 1))

    #expect(canvas.put("a漢字", at: Point(x: 0, y: 0)) == 3)
    #expect(canvas.text(row: 0) == "a漢")
    #expect(canvas.put("漢", at: Point(x: 2, y: 0), role: .error) == 1)
    #expect(canvas.text(row: 0) == "a  ")
    #expect(canvas[2, 0] == Cell(cluster: .space, role: .error))
    canvas.put("漢b", at: Point(x: -1, y: 0))
    #expect(canvas.text(row: 0) == " b ")
  }

  @Test("Drawing over half of a wide character blanks the other half", arguments: [(0, "x b"), (1, " xb"), (2, "漢x")])
  func halves(x: Int, shown: String) {
    var canvas = Canvas(size: Size(width: 3, height: 1))
    canvas.put("漢b", at: Point(x: 0, y: 0))
    canvas.put("x", at: Point(x: x, y: 0))

    #expect(canvas.text(row: 0) == shown)
  }

  @Test("A wide character drawn over halves of two others blanks their other halves")
  func wideOverWide() {
    var canvas = Canvas(size: Size(width: 4, height: 1))
    canvas.put("漢字", at: Point(x: 0, y: 0))
    canvas.put("界", at: Point(x: 1, y: 0))

    #expect(canvas.text(row: 0) == " 界 ")
    expectWhole(canvas)
  }

  @Test("A box has rounded corners, or plus signs in ASCII")
  func boxes() {
    var canvas = Canvas(size: Size(width: 9, height: 3))
    canvas.box(Rect(x: 0, y: 0, width: 4, height: 3))
    canvas.box(Rect(x: 5, y: 0, width: 4, height: 3), glyphs: .ascii, role: .accent)

    #expect(canvas.text == "╭──╮ +--+\n│  │ |  |\n╰──╯ +--+")
    #expect(canvas[0, 0].role == .border)
    #expect(canvas[8, 2].role == .accent)
  }

  @Test("Filling and recoloring affect only their rectangle")
  func fillAndApply() {
    var canvas = Canvas(size: Size(width: 4, height: 2))
    canvas.put("abcd", at: Point(x: 0, y: 0))
    canvas.put("abcd", at: Point(x: 0, y: 1))
    canvas.fill(Rect(x: 1, y: 0, width: 2, height: 1), role: .surface)
    canvas.apply(role: .selection, to: Rect(x: -3, y: 1, width: 5, height: 10))
    canvas.apply(attributes: .underline, to: Rect(x: 3, y: 1, width: 1, height: 1))

    #expect(canvas.text == "a  d\nabcd")
    #expect(canvas.roles(row: 0) == ".uu.".replacing("u", with: "\(Role.surface.code)"))
    #expect(canvas.row(1).map(\.role) == [.selection, .selection, .text, .text])
    #expect(canvas[3, 1].attributes == .underline)
  }

  @Test("A golden file has the canvas's text, its roles and a legend")
  func golden() {
    var canvas = Canvas(size: Size(width: 5, height: 1))
    canvas.put("ok", at: Point(x: 0, y: 0), role: .stateOnline)
    canvas.put("漢", at: Point(x: 3, y: 0))
    canvas.cursor = Point(x: 2, y: 0)

    #expect(
      canvas.golden(caption: "case a") == """
        # size 5x1  case a
        # cursor 2,0
        |ok 漢|
        -- roles
        |00 ..|
        -- legend
        . text
        0 state.online

        """)
  }

  @Test("Every role has a unique golden letter and a parent chain that ends at text")
  func roles() {
    let codes = Set(Role.allCases.map(\.code))
    #expect(codes.count == Role.allCases.count && !codes.contains(" "))
    for role in Role.allCases {
      let chain = sequence(first: role) { $0.parent }.prefix(10)
      #expect(Array(chain).last == .text)
    }
  }

  @Test("Random drawing with extreme coordinates keeps rows valid")
  func randomDrawing() {
    var random = SeededGenerator(seed: 3)
    let extremes = [Int.min, -1_000_000, -3, -1, 0, 1, 4, 7, 8, 9, 1_000_000, Int.max]
    for round in 0..<400 {
      var canvas = Canvas(
        size: Size(width: Int.random(in: 0...9, using: &random), height: Int.random(in: 0...4, using: &random)))
      func coordinate() -> Int {
        Int.random(in: 0...3, using: &random) == 0
          ? extremes.randomElement(using: &random) ?? 0 : Int.random(in: -3...10, using: &random)
      }
      func rect() -> Rect { Rect(x: coordinate(), y: coordinate(), width: coordinate(), height: coordinate()) }
      for _ in 0..<12 {
        let point = Point(x: coordinate(), y: coordinate())
        switch Int.random(in: 0...6, using: &random) {
        case 0: canvas.fill(rect(), role: .surface)
        case 1: canvas.box(rect())
        case 2: canvas.apply(role: .mark, to: rect().inset(dx: coordinate(), dy: coordinate()))
        case 3:
          var other = Canvas(size: Size(width: 5, height: 2))
          other.put("漢字漢", at: Point(x: -1, y: 0))
          canvas.draw(other, at: point)
        case 4: canvas.put(String.random(using: &random), at: point, maxWidth: coordinate(), clip: rect())
        default: canvas.put(String.random(using: &random), at: point)
        }
      }
      expectWhole(canvas, "seed 3 round \(round)")
    }
  }

  @Test("A sparkline scales to its maximum and handles invalid values")
  func sparkline() {
    #expect(Glyphs.unicode.sparkline([0, 1, 7, .nan, -3, .infinity]) == "▁▂█▁▁▁")
    #expect(Glyphs.ascii.sparkline([0, 4]) == "_#")
  }

  @Test("Every glyph is as wide as its ASCII counterpart")
  func glyphWidths() {
    let unicode = Mirror(reflecting: Glyphs.unicode).children.compactMap { $0.value as? String }
    let ascii = Mirror(reflecting: Glyphs.ascii).children.compactMap { $0.value as? String }

    #expect(unicode.map(SafeText.columns) == ascii.map(SafeText.columns))
    #expect(ascii.allSatisfy { $0.utf8.allSatisfy { $0 < 0x7F } })
    #expect(Glyphs.unicode.sparkline.allSatisfy { SafeText.columns(of: $0) == 1 })
  }
}

// SPDX-License-Identifier: Apache-2.0
import Glibc
import TerminalCanvas
import TerminalTesting
import TerminalTheme
import Testing

@testable import Terminal

extension PainterTests {
  /// Links of a canvas as a terminal gets them.
  @MainActor @Suite struct LinkTests {
    private static let size = Size(width: 40, height: 6)
    private static let address = "https://example.com/orders/7"

    private let painter: Painter

    init() throws {
      setlocale(LC_ALL, "C.UTF-8")
      let theme = try ThemeCatalog().theme(named: "ember").theme
      painter = try Painter(terminal: "xterm-256color", size: Self.size, theme: theme, environment: [:], wish: nil)
    }

    private func canvas(_ address: String? = address, text: String = "orders/7", other: String = "") -> Canvas {
      var canvas = Canvas(size: Self.size)
      canvas.put(text, at: Point(x: 2, y: 1), role: .paneTitle)
      canvas.put(other, at: Point(x: 0, y: 4))
      if let address { canvas.link(2..<2 + text.count, of: 1, to: address) }
      return canvas
    }

    private func text(_ canvas: Canvas) -> String { String(decoding: painter.frame(canvas), as: UTF8.self) }

    @Test("A link is sent once with cursor and colors unchanged, or as plain text")
    func drawn() {
      defer { painter.close() }
      painter.showsLinks = true
      let first = text(canvas())
      #expect(first.contains("\u{1B}7\u{1B}[2;3H\u{1B}]8;;\(Self.address)\u{1B}\\"), "\(first.debugDescription)")
      #expect(first.hasSuffix("orders/7\u{1B}]8;;\u{1B}\\\u{1B}8"), "\(first.debugDescription)")
      // A change elsewhere leaves it alone.
      #expect(!text(canvas(other: "x")).contains("]8;"))
      #expect(text(canvas(text: "orders/8", other: "x")).contains("]8;;https"))
      let gone = text(canvas(nil, text: "orders/8", other: "x"))
      #expect(gone.contains("]8;;\u{1B}\\") && !gone.contains("https"), "\(gone.debugDescription)")
    }

    @Test("With links disabled only the bytes of the text are sent")
    func off() {
      defer { painter.close() }
      // The first frame enters the screen too.
      _ = painter.frame(Canvas(size: Self.size))
      painter.invalidate()
      let plain = painter.frame(canvas(nil))
      painter.invalidate()
      #expect(painter.frame(canvas()) == plain)
    }

    @Test(
      "An address that is not a web address or could end its sequence is not a link",
      arguments: [
        "", "javascript:alert(1)", "file:///etc/passwd", "https://a\u{1B}\\", "https://a b", "https://a\u{7}",
        "https://é", "https://" + String(repeating: "a", count: 3_000),
      ])
    func unsafe(_ address: String) {
      painter.close()
      #expect(canvas(address).links.isEmpty)
    }

    @Test("Text drawn over a link ends it")
    func covered() {
      painter.close()
      var canvas = canvas()
      canvas.fill(Rect(x: 0, y: 3, width: 40, height: 2))
      #expect(canvas.links.count == 1)
      canvas.fill(Rect(x: 5, y: 0, width: 3, height: 3))
      #expect(canvas.links.isEmpty)
    }
  }
}

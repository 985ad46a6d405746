// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Screen layout state")
struct ScreenShapeTests {
  private static let size = Size(width: 120, height: 36)

  private static func dragged() -> ScreenShape {
    var screen = ScreenShape(size: size, theme: "ember")
    screen.grab(.tree)
    screen.drag(to: Point(x: 60, y: 9), in: Layout(size: size, Arrangement()))
    return screen
  }

  @Test("A pane border follows the mouse only while the button is held")
  func drag() {
    var screen = Self.dragged()
    #expect(screen.borders.tree == 500)
    screen.grab(nil)
    #expect(!screen.isDragging)
    screen.drag(to: Point(x: 90, y: 9), in: Layout(size: Self.size, Arrangement()))
    #expect(screen.borders.tree == 500)
  }

  @Test("Switching to the next layout resets moved borders")
  func layout() {
    var screen = Self.dragged()
    screen.nextLayout()
    #expect(screen.preset == LayoutPreset.balanced.next)
    #expect(screen.borders == Arrangement.Borders())
  }

  @Test("A past moment uses the viewer's terminal settings and, on request, their layout")
  func halves() {
    var viewer = Self.dragged()
    viewer.zoom(true)
    viewer.note(isLinkSlow: true)
    var past = ScreenShape(size: Size(width: 80, height: 24), theme: "paper", isMouseOn: false, highlightsRows: false)

    past.adoptTerminal(of: viewer)
    #expect(past.size == Self.size && past.theme == "ember")
    #expect(past.isMouseOn && past.highlightsRows && past.isLinkSlow)
    #expect(!past.isZoomed && past.borders.tree == nil)

    past.adoptArrangement(of: viewer)
    #expect(past.isZoomed && past.borders.tree == 500)
    #expect(!past.isDragging, "the mouse holds nothing of it")
  }

  @Test("Terminal statistics update every ten seconds, or at once if the clock changes")
  func traffic() {
    var screen = ScreenShape(size: Self.size)
    screen.note(TerminalTraffic(bytes: 1, frames: 1), at: at(0))
    screen.note(TerminalTraffic(bytes: 2, frames: 1), at: at(9))
    #expect(screen.traffic?.bytes == 1)
    screen.note(TerminalTraffic(bytes: 3, frames: 1), at: at(10))
    #expect(screen.traffic?.bytes == 3)
    screen.note(TerminalTraffic(bytes: 4, frames: 1), at: at(5))
    #expect(screen.traffic?.bytes == 4)
  }
}

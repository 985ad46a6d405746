// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel
@testable import DashboardView

extension Canvas {
  /// The panes whose titles are lit.
  var lit: [Pane] {
    var numbers: [Int] = []
    for y in 0..<size.height {
      let text = (0..<size.width).filter { self[$0, y].role == .paneTitleFocus }.map { self[$0, y].text }.joined()
      if let number = text.first(where: \.isNumber)?.wholeNumberValue { numbers.append(number) }
      // The number may have no room beside the path of a document.
      if numbers.isEmpty, !text.isEmpty { numbers.append(0) }
    }
    return numbers.compactMap { Pane(rawValue: $0) }
  }
}

@Suite("Focus")
struct FocusTests {
  @Test("A focused pane is drawn and highlighted at any size", arguments: [false, true])
  func drawn(_ isOpen: Bool) {
    let base = Size(width: 120, height: 36)
    var scene = isOpen ? Shop.detail(base, .unicode) : Shop.online(base, .unicode)
    let sizes = TestSize.share(6, of: ScreenProperties.sizes, from: isOpen ? 1 : 0)
    for size in sizes where LayoutClass(size) != .line {
      scene.resize(to: size)
      for pane in Pane.allCases where pane != .detail || isOpen {
        scene.press("\(pane.rawValue)")
        let layout = scene.state.layout(size)

        #expect(scene.state.focus == pane)
        #expect(layout.panes[pane]?.isEmpty == false, "\(pane) at \(size)")
        let canvas = view(scene.state)
        #expect(canvas.lit == [pane], "\(pane) at \(size)\n\(canvas.text)")
      }
    }
  }

  @Test("With a document open, the queue and network panes have one line until focused")
  func strips() {
    let size = Size(width: 120, height: 36)
    var scene = Shop.detail(size, .unicode)
    var text = view(scene.state).text
    #expect(text.contains("2 ⇡3 pending · #42 n · #43 set 8sW1bnRk · #44 delete grace"))
    #expect(text.contains("3 ● ONLINE since 12:01:40 · rtt 184 ms"))
    #expect(!text.contains("2 Pending writes"))

    scene.press("2")
    text = view(scene.state).text
    #expect(text.contains("2 Pending writes") && text.contains("0 orders/7Qf3xAzP") && text.contains("3 ● ONLINE"))
    scene.press("3")
    text = view(scene.state).text
    #expect(text.contains("3 Network") && text.contains("0 orders/7Qf3xAzP") && text.contains("2 ⇡3"))
    scene.press("4")
    #expect(!view(scene.state).text.contains("3 Network"))
  }

  @Test("On a small screen, covered panes share one line; clicking a name opens that pane")
  func sharedLine() {
    let size = Size(width: 80, height: 24)
    var scene = Shop.detail(size, .unicode)
    #expect(view(scene.state).text.contains("1 orders · 2 of 148"))
    let folded = scene.state.layout(size).folded
    #expect(Set(folded.keys) == [.collections, .writes, .network])
    #expect(Set(folded.values.map(\.y)).count == 1)

    scene.press("1")
    #expect(scene.state.layout(size).panes[.collections]?.height == scene.state.layout(size).panes[.detail]?.height)
    scene.press("0")
    guard let place = scene.state.layout(size).folded[.network] else { return }
    scene.click(place.x + 3, place.y)
    #expect(scene.state.focus == .network)
    #expect(view(scene.state).text.contains("3 Network"))
  }

  @Test("On screens of at least 160 columns, an open document covers no pane", arguments: [20, 24, 36, 60])
  func wide(_ height: Int) {
    let size = Size(width: 160, height: height)
    var scene = Shop.detail(Size(width: 120, height: 36), .unicode)
    scene.resize(to: size)
    let layout = scene.state.layout(size)
    #expect(layout.folded.isEmpty)
    #expect(Set(layout.panes.keys) == Set(Pane.allCases))
  }

  @Test("ctrl-w and a direction move to the pane in that direction")
  func directions() {
    var scene = Shop.online(Size(width: 120, height: 36), .unicode)
    scene.press("1")
    let steps: [(String, Pane)] = [
      ("ctrl-w l", .writes), ("ctrl-w j", .network), ("ctrl-w k", .writes), ("ctrl-w h", .collections),
      ("ctrl-w h", .collections), ("ctrl-w j", .feed), ("ctrl-w up", .collections), ("ctrl-w w", .writes),
      ("ctrl-w ctrl-w", .network), ("ctrl-w x j", .network),
    ]
    for (keys, pane) in steps {
      scene.press(keys)
      #expect(scene.state.focus == pane, "\(keys)")
    }
    scene.resize(to: Size(width: 60, height: 16))
    scene.press("ctrl-w l")
    #expect(scene.state.focus == .feed)
    scene.press("ctrl-w k")
    #expect(scene.state.focus == .network)
  }

  @Test("ctrl-w also moves to panes that are folded to a line")
  func directionsBesideDocument() {
    var scene = Shop.detail(Size(width: 120, height: 36), .unicode)
    scene.press("0 ctrl-w j")
    #expect(scene.state.focus == .writes)
    scene.press("ctrl-w j")
    #expect(scene.state.focus == .network)
    scene.press("ctrl-w j")
    #expect(scene.state.focus == .feed)
    scene.press("0 ctrl-w h")
    #expect(scene.state.focus == .collections)
  }
}

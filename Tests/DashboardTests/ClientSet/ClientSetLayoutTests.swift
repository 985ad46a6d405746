// SPDX-License-Identifier: Apache-2.0
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Layout of several clients")
struct ClientSetLayoutTests {
  @Test(
    "Two clients are side by side from 160 columns and stacked on narrower screens",
    arguments: [
      (200, 60, [Rect(x: 0, y: 1, width: 99, height: 59), Rect(x: 100, y: 1, width: 100, height: 59)]),
      (160, 48, [Rect(x: 0, y: 1, width: 79, height: 47), Rect(x: 80, y: 1, width: 80, height: 47)]),
      (120, 36, [Rect(x: 0, y: 1, width: 120, height: 20), Rect(x: 0, y: 21, width: 120, height: 15)]),
      (80, 24, [Rect(x: 0, y: 1, width: 80, height: 13), Rect(x: 0, y: 14, width: 80, height: 10)]),
      (60, 16, [Rect(x: 0, y: 1, width: 60, height: 7), Rect(x: 0, y: 8, width: 60, height: 8)]),
    ])
  func two(_ width: Int, _ height: Int, _ places: [Rect]) {
    let layout = ClientSetLayout(size: Size(width: width, height: height), count: 2, focus: 0)
    #expect(layout.places == places)
    #expect(layout.line == Rect(x: 0, y: 0, width: width, height: 1))
    #expect(layout.separators.count == (width >= 160 ? 1 : 0))
  }

  @Test("Client areas do not overlap for any screen size or number of clients")
  func apart() {
    for size in ScreenProperties.sizes {
      for count in 2...ClientSetFacts.mostClients {
        for focus in 0..<count {
          let layout = ClientSetLayout(size: size, count: count, focus: focus)
          let all = layout.places + layout.separators + [layout.line]
          #expect(layout.places.count == count)
          #expect(all.reduce(0) { $0 + $1.width * $1.height } == size.width * size.height, "\(count) at \(size)")
          for (index, place) in all.enumerated() {
            #expect(Rect(size: size).contains(place) || place.isEmpty, "\(count) at \(size)")
            for other in all[(index + 1)...] { #expect(place.intersection(other).isEmpty) }
          }
        }
      }
    }
  }

  @Test("Two clients each get the large layout at 200 columns and the medium one at 160")
  func classes() {
    for (width, layoutClass) in [(200, LayoutClass.large), (160, .medium)] {
      let layout = ClientSetLayout(size: Size(width: width, height: 60), count: 2, focus: 1)
      #expect(layout.places.allSatisfy { LayoutClass($0.size) == layoutClass })
    }
  }

  @Test("A dialog in a client's small area fills the screen until Esc closes it")
  func dialog() {
    var driver = ClientSetDriver.shared(Size(width: 60, height: 16))
    driver.press(":")
    #expect(driver.state("one").size == Size(width: 60, height: 15))
    #expect(driver.canvas.text(row: 0).hasPrefix("▌one"))
    driver.press("esc")
    #expect(driver.state("one").size == Size(width: 60, height: 7))
    driver.press("/")
    #expect(driver.state("one").size == Size(width: 60, height: 7), "a filter is a line, and needs no room")
  }

  @Test("& toggles between showing the focused client and showing all clients")
  func zoom() {
    var driver = ClientSetDriver.shared(Size(width: 80, height: 24))
    driver.press("&")
    #expect(driver.state("one").size == Size(width: 80, height: 23))
    driver.press("ctrl-n")
    #expect(driver.state("bob").size == Size(width: 80, height: 23))
    driver.press("&")
    #expect(driver.state("bob").size == Size(width: 80, height: 13))
    #expect(driver.state("one").size == Size(width: 80, height: 10))
  }

  @Test(
    "Every screen row fills the width, and the first names all clients and the focus",
    arguments: [1, 2, 3])
  func screens(_ others: Int) {
    let names = ["bob", "carl", "dora"].prefix(others)
    for size in [(200, 60), (160, 48), (120, 36), (80, 24), (60, 16)].map({ Size(width: $0.0, height: $0.1) }) {
      let driver = ClientSetDriver.shared(size, Array(names))
      let canvas = driver.canvas
      #expect(canvas.size == size)
      for y in 0..<size.height {
        #expect(canvas.row(y).reduce(0) { $0 + $1.width } == size.width, "row \(y) at \(size)")
      }
      let line = canvas.text(row: 0)
      #expect(line.hasPrefix("▌one"), "\(line)")
      for name in names { #expect(line.contains(" \(name)"), "\(line)") }
      let marked = canvas.text.matches(of: /the keys act on one/).count
      // The first row has the words too, where there is room.
      let footers = driver.clientSet.layout.places.dropFirst().count { $0.height >= 4 }
      #expect(marked >= footers, "\(canvas.text)")
    }
  }

  @Test("Four clients can be drawn on a screen of any size")
  func total() {
    for size in ScreenProperties.sizes where size.width * size.height < 400 {
      let driver = ClientSetDriver.shared(size, ["bob", "carl", "dora"])
      #expect(driver.canvas.size == size)
    }
  }

  @Test("Only the focused client has a highlighted pane and a cursor")
  func signs() {
    let driver = ClientSetDriver.shared()
    let canvas = driver.canvas
    let place = driver.clientSet.layout.places[1]
    for y in place.y..<place.maxY {
      for x in place.x..<place.maxX { #expect(![.paneTitleFocus, .cursorGutter].contains(canvas[x, y].role)) }
    }
    #expect(canvas[1, 1].role == .paneTitleFocus)
  }
}

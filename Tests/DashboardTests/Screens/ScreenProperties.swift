// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel
@testable import DashboardView

/// What holds of every screen at every size.
@Suite("Screen properties at any size")
struct ScreenProperties {
  /// Every size up to 44×13, where little fits, and a thinned grid up to 250×80.
  static let sizes: [Size] = {
    let small = (1...44).flatMap { width in (1...13).map { Size(width: width, height: $0) } }
    let widths = [31, 40, 43, 44, 59, 71, 72, 80, 99, 100, 120, 161, 250]
    let heights = [4, 9, 12, 13, 19, 20, 29, 30, 36, 80]
    return small + widths.flatMap { width in heights.map { Size(width: width, height: $0) } }
  }()

  /// The sizes at which a situation is drawn: where it is a share of them, each size is tried in several situations.
  private static func sizes(of situation: Situation) -> [Size] {
    TestSize.share(14, of: sizes, from: Situation.allCases.firstIndex(of: situation) ?? 0)
  }

  @Test(
    "Rows fill the screen; the first shows connection, pending writes and event rate", arguments: Situation.allCases)
  func rows(_ situation: Situation) {
    for size in Self.sizes(of: situation) {
      let state = resized(situation, to: size)
      let canvas = view(state)

      #expect(canvas.size == size)
      for y in 0..<size.height {
        let cells = canvas.row(y)
        let columns = cells.reduce(0) { $0 + $1.width }
        #expect(columns == size.width, "\(situation) at \(size), row \(y): \(canvas.text(row: y))")
      }
      guard size.width >= 24, size.height >= 4 else { continue }
      let first = canvas.text(row: 0)
      let word = state.attachment.isOver ? "END" : state.network.isOffline ? "OFF" : "ON"
      #expect(first.contains(word), "\(situation) at \(size): \(first)")
      #expect(first.contains("⇡\(state.writes.live.count)"), "\(situation) at \(size): \(first)")
      #expect(first.contains("/s"), "\(situation) at \(size): \(first)")
    }
  }

  @Test("Panes lie inside the screen and do not overlap", arguments: Situation.allCases)
  func panes(_ situation: Situation) {
    for size in Self.sizes(of: situation) {
      let state = resized(situation, to: size)
      let layout = state.layout(size)
      let screen = Rect(size: size)
      let areas =
        layout.panes.map { ("\($0.key)", $0.value) }
        + [("header", layout.header), ("tabs", layout.tabs), ("strip", layout.strip), ("footer", layout.footer)]
        .compactMap { name, rect in rect.map { (name, $0) } }

      for (index, (name, rect)) in areas.enumerated() {
        #expect(screen.contains(rect), "\(name) of \(situation) at \(size): \(rect)")
        for (other, otherRect) in areas[(index + 1)...] {
          #expect(rect.intersection(otherRect).isEmpty, "\(name) and \(other) of \(situation) at \(size)")
        }
      }
    }
  }

  @Test("The selected row of the focused list is visible", arguments: [Pane.collections, .writes, .feed])
  func selection(_ pane: Pane) {
    let sizes = TestSize.share(5, of: Self.sizes, from: pane.rawValue)
    let shop = Shop.offline(Size(width: 120, height: 36), .unicode)
    for size in sizes where size.width >= 24 && size.height >= 4 {
      var scene = shop
      scene.resize(to: size)
      scene.press("\(pane.rawValue) G k k")
      let layout = scene.state.layout(size)

      let canvas = view(scene.state)

      let content = layout.content(of: pane)
      let marked = (content.y..<content.maxY).filter { canvas[content.x, $0].text == "▌" }
      #expect(marked.count == 1, "\(pane) at \(size)\n\(canvas.text)")
    }
  }

  @Test("Moving the focus changes only titles, gutters, write markers and the footer")
  func focus() {
    let size = Size(width: 120, height: 36)
    var scene = Shop.offline(size, .unicode)
    scene.press("1")
    let before = view(scene.state)
    scene.press("2")

    let after = view(scene.state)

    var changed = 0
    for y in 0..<35 {
      for x in 0..<120 where before[x, y] != after[x, y] {
        changed += 1
        let isTitle = [before[x, y].role, after[x, y].role].contains(.paneTitleFocus)
        let isGutter = before[x, y].text == "▌" && after[x, y].text == "▌"
        let isThread = after[x, y].text == Glyphs.unicode.related
        #expect(
          isTitle || isGutter || isThread || [.hint, .key, .textMuted].contains(after[x, y].role))
      }
    }
    #expect(changed > 0)
    #expect(changed < 80)
  }

  @Test("An event that scrolls the feed changes only the feed, its title and the header")
  func event() {
    let size = Size(width: 120, height: 36)
    var scene = Shop.online(size, .unicode)
    let before = view(scene.state)
    scene.snapshot("12:04:17.125", 4, [change(.added, Shop.message("m0913", "on it"))])

    let after = view(scene.state)

    let feed = scene.state.layout(size).content(of: .feed)
    for y in 1..<feed.y - 1 { #expect(before.text(row: y) == after.text(row: y)) }
    for y in feed.y..<feed.maxY - 1 { #expect(before.text(row: y + 1) == after.text(row: y)) }
  }

  @Test("Drawing twice gives the same screen", arguments: Situation.allCases)
  func pure(_ situation: Situation) {
    let state = situation.state(size: Size(width: 100, height: 30))

    #expect(view(state) == view(state))
  }

  @Test("A feed that has dropped its oldest rows shows the newest")
  func fullFeed() {
    let size = Size(width: 300, height: 100)
    var scene = Shop.online(size, .unicode)
    for start in stride(from: 0, to: 6000, by: 20) {
      let changes = (start..<start + 20).map { change(.added, Shop.message("m\($0)", "text \($0)")) }
      scene.snapshot("12:05:00.000", 4, changes)
    }

    let canvas = view(scene.state)

    let feed = scene.state.layout(size).content(of: .feed)
    #expect(canvas.text(row: feed.maxY - 1).contains("text 5999"))
    #expect(canvas.text(row: feed.y).contains("text \(6000 - feed.height)"))
  }

  /// The situation as built on a large screen and then resized, as a user would.
  private func resized(_ situation: Situation, to size: Size) -> DashboardState {
    var state = Self.states[situation] ?? situation.state(size: Size(width: 120, height: 36))
    _ = update(&state, .input(.resize(size), at: state.now))
    return state
  }

  private static let states: [Situation: DashboardState] = Dictionary(
    uniqueKeysWithValues: Situation.allCases.map { ($0, $0.state(size: Size(width: 120, height: 36))) })
}

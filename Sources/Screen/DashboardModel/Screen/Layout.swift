// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// The arrangement of the panes above the footer.
package enum LayoutPreset: Hashable, Sendable {
  case balanced, state, stream

  package var next: LayoutPreset {
    switch self {
    case .balanced: .state
    case .state: .stream
    case .stream: .balanced
    }
  }
}

/// The size class of the screen. It depends only on the screen's size.
package enum LayoutClass: Hashable, Sendable {
  /// At least 99×30 cells, which is half of a screen with 200 columns: boxes with hints, full words.
  case large
  /// At least 72×20 cells: the same layout with shorter columns.
  case medium
  /// At least 44×13 cells: one pane at a time, with tabs and a line about the selection.
  case small
  /// At least 24×4 cells: no borders.
  case tiny
  /// Smaller screens: a single status line.
  case line

  package init(_ size: Size) {
    func fits(_ width: Int, _ height: Int) -> Bool { size.width >= width && size.height >= height }
    self = fits(99, 30) ? .large : fits(72, 20) ? .medium : fits(44, 13) ? .small : fits(24, 4) ? .tiny : .line
  }

  /// Whether several panes are visible at the same time.
  package var isTiled: Bool { self == .large || self == .medium }
}

/// The areas of all parts of the screen, used for drawing and for mouse events.
package struct Layout: Hashable, Sendable {
  package let size: Size
  package let layoutClass: LayoutClass
  package private(set) var header: Rect
  package private(set) var tabs: Rect?
  package private(set) var panes: [Pane: Rect] = [:]
  /// The panes that an open document covers, each with its remaining line. Focusing such a pane unfolds it.
  package private(set) var folded: [Pane: Rect] = [:]
  /// The row of the session band, which shows the whole session in time steps.
  package private(set) var band: Rect?
  /// The area for the full text of the selected feed row. It exists if the panes are too narrow for the text, or if the
  /// user requests it.
  package private(set) var strip: Rect?
  package private(set) var footer: Rect?

  package init(size: Size, _ arrangement: Arrangement) {
    self.size = size
    layoutClass = LayoutClass(size)
    header = Rect(x: 0, y: 0, width: size.width, height: min(1, size.height))
    guard layoutClass != .line else { return }
    footer = Rect(x: 0, y: size.height - 1, width: size.width, height: 1)
    let body = Rect(x: 0, y: 1, width: size.width, height: size.height - 2)
    if !layoutClass.isTiled {
      arrangeOne(arrangement, in: body)
    } else if arrangement.isZoomed {
      panes[arrangement.focus] = body
    } else {
      arrangeAll(arrangement, in: body)
    }
    openRow(arrangement)
  }

  private mutating func arrangeOne(_ arrangement: Arrangement, in body: Rect) {
    tabs = Rect(x: 0, y: body.y, width: body.width, height: 1)
    var rest = Rect(x: 0, y: body.y + 1, width: body.width, height: body.height - 1)
    if layoutClass == .small, arrangement.focus == .feed, !arrangement.opensRow {
      strip = Rect(x: 0, y: rest.maxY - 3, width: rest.width, height: 3)
      rest.height -= 3
    }
    panes[arrangement.focus] = rest
  }

  private mutating func arrangeAll(_ arrangement: Arrangement, in body: Rect) {
    let stateHeight = max(9, min(body.height - 4, arrangement.stateHeight(of: body.height, layoutClass)))
    var feed = Rect(x: 0, y: body.y + stateHeight, width: body.width, height: body.height - stateHeight)
    if body.width >= 79, feed.height >= 6 {
      band = Rect(x: 0, y: feed.y, width: body.width, height: 1)
      feed = Rect(x: 0, y: feed.y + 1, width: feed.width, height: feed.height - 1)
    }
    panes[.feed] = feed
    let state = Rect(x: 0, y: body.y, width: body.width, height: stateHeight)
    if arrangement.hasDetail, !isWide {
      layoutClass == .large ? arrangeBesideTree(arrangement, in: state) : arrangeOverTree(arrangement, in: state)
      return
    }
    var right = splitTree(arrangement, from: state)
    if isWide {
      let width = arrangement.documentWidth(of: body.width, beside: right.x)
      panes[.detail] = Rect(x: right.x, y: state.y, width: width, height: stateHeight)
      right = Rect(x: right.x + width, y: state.y, width: right.width - width, height: stateHeight)
    }
    let upper = arrangement.queueHeight(of: stateHeight, layoutClass)
    panes[.writes] = Rect(x: right.x, y: right.y, width: right.width, height: upper)
    panes[.network] = Rect(x: right.x, y: right.y + upper, width: right.width, height: stateHeight - upper)
  }

  /// Places the tree at the left.
  /// - Returns: the remaining area.
  private mutating func splitTree(_ arrangement: Arrangement, from area: Rect) -> Rect {
    let left = arrangement.treeWidth(of: area.width, layoutClass)
    panes[.collections] = Rect(x: area.x, y: area.y, width: left, height: area.height)
    return Rect(x: area.x + left, y: area.y, width: area.width - left, height: area.height)
  }

  /// Places the open document to the right of the tree, over panes 2 and 3. Each of these panes keeps one line. If one
  /// of them has the focus, it gets the lower half instead.
  private mutating func arrangeBesideTree(_ arrangement: Arrangement, in area: Rect) {
    let right = splitTree(arrangement, from: area)
    let covered: [Pane] = [.writes, .network]
    let rest = right.height - covered.count { $0 != arrangement.focus }
    let open = covered.contains(arrangement.focus) ? max(4, rest / 2) : 0
    panes[.detail] = Rect(x: right.x, y: right.y, width: right.width, height: rest - open)
    var y = right.y + rest - open
    for pane in covered {
      let height = pane == arrangement.focus ? open : 1
      let place = Rect(x: right.x, y: y, width: right.width, height: height)
      if pane == arrangement.focus { panes[pane] = place } else { folded[pane] = place }
      y += height
    }
  }

  /// Places the open document over the tree and over panes 2 and 3. The covered panes without the focus share a line.
  /// If the tree gets the focus, it unfolds at its usual position. Other panes unfold below the document.
  private mutating func arrangeOverTree(_ arrangement: Arrangement, in area: Rect) {
    var rest = area
    rest.height -= 1
    let covered = [Pane.collections, .writes, .network].filter { $0 != arrangement.focus }
    let share = area.width / covered.count
    for (index, pane) in covered.enumerated() {
      let width = index == covered.count - 1 ? area.width - index * share : share
      folded[pane] = Rect(x: area.x + index * share, y: rest.maxY, width: width, height: 1)
    }
    switch arrangement.focus {
    case .collections: rest = splitTree(arrangement, from: rest)
    case .writes, .network:
      let open = max(4, rest.height / 2)
      rest.height -= open
      panes[arrangement.focus] = Rect(x: rest.x, y: rest.maxY, width: rest.width, height: open)
    case .detail, .feed: break
    }
    panes[.detail] = rest
  }

  /// Reserves some rows of the feed for the full text of the selected row.
  private mutating func openRow(_ arrangement: Arrangement) {
    guard arrangement.opensRow, let feed = panes[.feed] else { return }
    let height = min(7, feed.height / 2)
    guard height >= 3 else { return }
    strip = Rect(x: 0, y: feed.maxY - height, width: feed.width, height: height)
    panes[.feed]?.height -= height
  }

  /// Whether a separate column shows the document under the tree's cursor.
  package var isWide: Bool { layoutClass.isTiled && size.width >= 160 }

  /// The area for a pane's contents: inside the box of a tiled pane, below the title of the feed, or all of a pane
  /// without borders.
  package func content(of pane: Pane) -> Rect {
    guard let rect = panes[pane] else { return .zero }
    if !layoutClass.isTiled { return rect }
    if pane == .feed { return Rect(x: 0, y: rect.y + 1, width: rect.width, height: rect.height - 1) }
    return rect.inset(dx: 1, dy: 1)
  }

  /// A border between panes that the user can move.
  package enum Border: Hashable, Sendable { case tree, document, state, queue }

  /// The border at a point. If two frames are adjacent, both of their lines count as the border.
  package func border(at point: Point) -> Border? {
    guard layoutClass.isTiled, let tree = panes[.collections], let feed = panes[.feed] else { return nil }
    // The session band handles its own clicks, so the line above it acts as the border.
    let edge = band?.y ?? feed.y
    if point.y == feed.y || point.y == edge - 1 { return .state }
    guard point.y < edge else { return nil }
    if point.x == tree.maxX || point.x == tree.maxX - 1 { return .tree }
    if isWide, let document = panes[.detail], point.x == document.maxX || point.x == document.maxX - 1 {
      return .document
    }
    if let network = panes[.network], network.contains(point) || point.y == network.y - 1, point.x > tree.maxX,
      point.y == network.y || point.y == network.y - 1, point.x >= network.x
    {
      return .queue
    }
    return nil
  }

  package func pane(at point: Point) -> Pane? {
    (panes.first { $0.value.contains(point) } ?? folded.first { $0.value.contains(point) })?.key
  }

  package enum Direction: Hashable, Sendable { case left, right, up, down }

  /// The nearest pane in a direction, including folded ones. If several panes are equally near, returns the uppermost
  /// of them, then the leftmost.
  /// - Parameter all: the panes that can have the focus.
  package func neighbour(of pane: Pane, _ direction: Direction, among all: [Pane]) -> Pane? {
    let places = panes.merging(folded) { open, _ in open }
    guard let from = places[pane] else { return nil }
    func distances(_ to: Rect) -> (ahead: Int, aside: Int) {
      let across = max(to.x - from.maxX, from.x - to.maxX)
      let along = max(to.y - from.maxY, from.y - to.maxY)
      return switch direction {
      case .left: (from.x - to.maxX, max(0, along))
      case .right: (to.x - from.maxX, max(0, along))
      case .up: (from.y - to.maxY, max(0, across))
      case .down: (to.y - from.maxY, max(0, across))
      }
    }
    let candidates = places.filter { $0.key != pane && all.contains($0.key) && distances($0.value).ahead >= 0 }
    return candidates.min { first, second in
      let (one, other) = (distances(first.value), distances(second.value))
      return (one.aside, one.ahead, first.value.y, first.value.x) < (
        other.aside, other.ahead, second.value.y, second.value.x
      )
    }?.key
  }
}

/// The five panes that can have the focus. The raw value is the key that focuses the pane, for every screen size.
package enum Pane: Int, CaseIterable, Hashable, Sendable {
  case detail = 0
  case collections, writes, network, feed

  package var title: String {
    switch self {
    case .detail: "Document"
    case .collections: "Collections"
    case .writes: "Pending writes"
    case .network: "Network"
    case .feed: "Live feed"
    }
  }

  /// The title in the line of pane tabs.
  package var shortTitle: String {
    switch self {
    case .detail: "Doc"
    case .collections: "Coll"
    case .writes: "Writes"
    case .network: "Net"
    case .feed: "Feed"
    }
  }
}

/// The inputs of the layout, apart from the screen's size: the focus, the contents, and the borders that the user
/// moved.
package struct Arrangement: Hashable, Sendable {
  /// The positions of the borders that the user has moved, in thousandths of the space that they divide; `nil` for
  /// other borders.
  package struct Borders: Hashable, Sendable {
    package var tree: Int?
    package var document: Int?
    package var state: Int?
    package var queue: Int?

    package init() {}
  }

  package var focus = Pane.collections
  package var hasDetail = false
  package var isZoomed = false
  package var preset = LayoutPreset.balanced
  /// Whether the selected feed row is shown in full below the feed.
  package var opensRow = false
  /// Whether pane 2 has rows to show. If not, pane 2 has only one line.
  package var hasQueue = true
  /// The count of listeners that have a line in pane 3.
  package var listenerCount = 0
  package var borders = Borders()

  /// The count of lines in pane 3 apart from those of the listeners.
  private static let networkFacts = 13

  package init(
    focus: Pane = .collections, hasDetail: Bool = false, isZoomed: Bool = false,
    preset: LayoutPreset = .balanced
  ) {
    self.focus = focus
    self.hasDetail = hasDetail
    self.isZoomed = isZoomed
    self.preset = preset
  }

  /// The count of rows above the feed.
  func stateHeight(of height: Int, _ layoutClass: LayoutClass) -> Int {
    if let share = borders.state { return height * share / 1000 }
    let percent =
      switch preset {
      case .balanced: layoutClass == .large ? 59 : 55
      case .state: 78
      case .stream: 40
      }
    return (height * percent + 50) / 100
  }

  func treeWidth(of width: Int, _ layoutClass: LayoutClass) -> Int {
    if let share = borders.tree { return max(24, min(width - 48, width * share / 1000)) }
    // A wide screen has room for more columns and times. Beyond a width, panes 2 and 3 get the remaining columns.
    if width >= 180 { return max(min(80, width * 40 / 100), width * 34 / 100) }
    if width >= 160 { return width * 34 / 100 }
    // The user reads the open document if there is one, otherwise the tree.
    if hasDetail { return layoutClass == .large ? width * 46 / 120 : width * 34 / 80 }
    return layoutClass == .large ? width * 70 / 120 : width / 2
  }

  /// The width of the column that shows the document under the tree's cursor.
  func documentWidth(of width: Int, beside tree: Int) -> Int {
    let share = borders.document.map { width * $0 / 1000 } ?? width * 30 / 100
    return max(24, min(width - tree - 24, share))
  }

  func queueHeight(of height: Int, _ layoutClass: LayoutClass) -> Int {
    if !hasQueue { return 3 }
    if let share = borders.queue { return max(3, min(height - 4, height * share / 1000)) }
    guard layoutClass == .large else { return height / 2 }
    // Pane 3 needs only its facts, a line for each of up to six listeners, the keys and the frame.
    return max(height * 9 / 20, height - Self.networkFacts - min(listenerCount, 6))
  }
}

/// The content of a pane's top line. Used for drawing and for mouse events.
package enum PaneTitle {
  /// The column of a pane's title in its frame.
  package static let start = 2

  /// The column of the feed's status (followed or paused), which follows the pane's name.
  package static func feedStatus(_ layoutClass: LayoutClass) -> Int {
    start + SafeText.columns(of: text(of: .feed)) + (layoutClass == .large ? 3 : 2)
  }

  package static func text(of pane: Pane) -> String { " \(pane.rawValue) \(pane.title) " }
}

// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// How the space above the footer is shared.
package enum LayoutPreset: Hashable, Sendable {
  case balanced, state, stream

  var next: LayoutPreset {
    switch self {
    case .balanced: .state
    case .state: .stream
    case .stream: .balanced
    }
  }
}

/// How much fits: chosen from the size alone.
package enum LayoutClass: Hashable, Sendable {
  /// ≥ 100×30: boxes with hints, full words.
  case large
  /// ≥ 72×20: the same map with shorter columns.
  case medium
  /// ≥ 44×13: one pane at a time with tabs and a strip about the selection.
  case small
  /// ≥ 24×4: no borders.
  case tiny
  /// Smaller: the vital signs only.
  case line

  package init(_ size: Size) {
    func fits(_ width: Int, _ height: Int) -> Bool { size.width >= width && size.height >= height }
    self = fits(100, 30) ? .large : fits(72, 20) ? .medium : fits(44, 13) ? .small : fits(24, 4) ? .tiny : .line
  }

  /// Whether several panes are visible at once.
  var isTiled: Bool { self == .large || self == .medium }
}

/// Where everything is. Both drawing and the mouse go by it.
package struct Layout: Hashable, Sendable {
  package let size: Size
  package let layoutClass: LayoutClass
  package private(set) var header: Rect
  package private(set) var tabs: Rect?
  package private(set) var panes: [Pane: Rect] = [:]
  /// What the selected feed row says, where panes are too narrow to say it.
  package private(set) var strip: Rect?
  package private(set) var footer: Rect?

  package init(size: Size, focus: Pane, hasDetail: Bool, isZoomed: Bool, preset: LayoutPreset) {
    self.size = size
    layoutClass = LayoutClass(size)
    header = Rect(x: 0, y: 0, width: size.width, height: min(1, size.height))
    guard layoutClass != .line else { return }
    footer = Rect(x: 0, y: size.height - 1, width: size.width, height: 1)
    let body = Rect(x: 0, y: 1, width: size.width, height: size.height - 2)
    if !layoutClass.isTiled {
      arrangeOne(focus, in: body)
    } else if isZoomed {
      panes[focus] = body
    } else {
      arrangeAll(in: body, hasDetail: hasDetail, preset: preset)
    }
  }

  private mutating func arrangeOne(_ pane: Pane, in body: Rect) {
    tabs = Rect(x: 0, y: body.y, width: body.width, height: 1)
    var rest = Rect(x: 0, y: body.y + 1, width: body.width, height: body.height - 1)
    if layoutClass == .small, pane == .feed {
      strip = Rect(x: 0, y: rest.maxY - 3, width: rest.width, height: 3)
      rest.height -= 3
    }
    panes[pane] = rest
  }

  private mutating func arrangeAll(in body: Rect, hasDetail: Bool, preset: LayoutPreset) {
    let share =
      switch preset {
      case .balanced: layoutClass == .large ? 59 : 55
      case .state: 78
      case .stream: 40
      }
    let stateHeight = max(9, min(body.height - 4, (body.height * share + 50) / 100))
    panes[.feed] = Rect(x: 0, y: body.y + stateHeight, width: body.width, height: body.height - stateHeight)
    if hasDetail, layoutClass == .medium {
      panes[.detail] = Rect(x: 0, y: body.y, width: body.width, height: stateHeight)
      return
    }
    let left = layoutClass == .large ? body.width * 46 / 120 : body.width * 34 / 80
    panes[.collections] = Rect(x: 0, y: body.y, width: left, height: stateHeight)
    let right = Rect(x: left, y: body.y, width: body.width - left, height: stateHeight)
    if hasDetail {
      panes[.detail] = right
      return
    }
    let upper = layoutClass == .large ? stateHeight * 9 / 20 : stateHeight / 2
    panes[.writes] = Rect(x: left, y: right.y, width: right.width, height: upper)
    panes[.network] = Rect(x: left, y: right.y + upper, width: right.width, height: stateHeight - upper)
  }

  /// Rows for content: inside the box of a tiled pane, below the title of the feed, all of a pane without borders.
  package func content(of pane: Pane) -> Rect {
    guard let rect = panes[pane] else { return .zero }
    if !layoutClass.isTiled { return rect }
    if pane == .feed { return Rect(x: 0, y: rect.y + 1, width: rect.width, height: rect.height - 1) }
    return rect.inset(dx: 1, dy: 1)
  }

  package func pane(at point: Point) -> Pane? { panes.first { $0.value.contains(point) }?.key }
}

extension DashboardState {
  func layout(_ size: Size) -> Layout {
    Layout(size: size, focus: focus, hasDetail: detail != nil, isZoomed: isZoomed, preset: preset)
  }
}

/// The five places that can have the focus. The number is the key that jumps there, at every size.
package enum Pane: Int, CaseIterable, Hashable, Sendable {
  case detail = 0
  case collections, writes, network, feed

  var title: String {
    switch self {
    case .detail: "Document"
    case .collections: "Collections"
    case .writes: "Pending writes"
    case .network: "Network"
    case .feed: "Live feed"
    }
  }

  /// For tab lines.
  var shortTitle: String {
    switch self {
    case .detail: "Doc"
    case .collections: "Coll"
    case .writes: "Writes"
    case .network: "Net"
    case .feed: "Feed"
    }
  }
}

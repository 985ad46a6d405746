// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import TerminalCanvas

/// The geometry of several clients on one screen: a rectangle for each client, and a row that names the clients.
package struct ClientSetLayout: Hashable, Sendable {
  /// The minimum screen width for clients side by side.
  package static let widthSideBySide = 160
  /// The minimum width of each client when clients are side by side.
  private static let leastWidth = 79

  /// The row that names the clients. Empty for a single client, if there is no space, or if the clients' own headers
  /// are enough.
  package private(set) var line: Rect
  /// The rectangle of each client; empty for a client that another one covers.
  package private(set) var places: [Rect]
  /// The columns between clients side by side.
  package private(set) var separators: [Rect]

  /// - Parameters:
  ///   - fills: whether the focused client fills the screen.
  ///   - hasDialog: whether the focused client has an open dialog, which gets the screen if the client's place is too
  ///     small.
  ///   - namesAll: whether the row is shown although each client has its own header.
  package init(
    size: Size, count: Int, focus: Int, fills: Bool = false, hasDialog: Bool = false, namesAll: Bool = true
  ) {
    guard count > 1 else {
      (line, places, separators) = (.zero, [Rect(size: size)], [])
      return
    }
    line = Rect(x: 0, y: 0, width: size.width, height: min(1, size.height))
    let body = Rect(x: 0, y: line.height, width: size.width, height: size.height - line.height)
    let (divided, separators) = Self.divide(body, count, focus)
    let isSmall = LayoutClass(divided[focus].size).isSmallerThan(.small)
    guard fills || hasDialog && isSmall else {
      (places, self.separators) = (divided, separators)
      guard !namesAll, !divided.contains(where: \.isEmpty) else { return }
      line = .zero
      (places, self.separators) = Self.divide(Rect(size: size), count, focus)
      return
    }
    places = divided.indices.map { $0 == focus ? body : .zero }
    self.separators = []
  }

  /// A copy of the layout with all places moved down by a count of rows.
  func moved(down rows: Int) -> ClientSetLayout {
    func moved(_ rect: Rect) -> Rect {
      rect.isEmpty ? rect : Rect(x: rect.x, y: rect.y + rows, width: rect.width, height: rect.height)
    }
    var layout = self
    layout.line = moved(line)
    layout.places = places.map(moved)
    layout.separators = separators.map(moved)
    return layout
  }

  package func client(at point: Point) -> Int? { places.firstIndex { $0.contains(point) } }

  // MARK: Dividing

  private static func divide(_ body: Rect, _ count: Int, _ focus: Int) -> ([Rect], separators: [Rect]) {
    let fitting = body.width >= widthSideBySide ? max(1, (body.width + 1) / (leastWidth + 1)) : 1
    let columns = min(count, fitting)
    var (places, separators): ([Rect], [Rect]) = ([], [])
    var x = body.x
    for column in 0..<columns {
      let rest = body.maxX - x
      let left = columns - column
      let width = (rest - (left - 1)) / left
      // The clients of a column are stacked. If they do not divide evenly, the first columns have one more.
      let mine = count / columns + (column < count % columns ? 1 : 0)
      let first = places.count
      let area = Rect(x: x, y: body.y, width: width, height: body.height)
      places += stack(area, mine, focus - first)
      x += width
      if left > 1 {
        separators.append(Rect(x: x, y: body.y, width: 1, height: body.height))
        x += 1
      }
    }
    return (places, separators)
  }

  /// Divides a column among the clients. If equal heights are too small for the next larger layout class, the focused
  /// client gets the height that this class needs. Exception: the heights remain equal if the other clients would drop
  /// to a smaller class.
  private static func stack(_ area: Rect, _ count: Int, _ focus: Int) -> [Rect] {
    func heights(_ focused: Int?) -> [Int] {
      let others = count - (focused == nil ? 0 : 1)
      var rest = area.height - (focused ?? 0)
      var left = others
      return (0..<count).map { index in
        if let focused, index == focus { return focused }
        let height = left == 0 ? 0 : rest / left
        rest -= height
        left -= 1
        return height
      }
    }
    func layout(_ height: Int) -> LayoutClass { LayoutClass(Size(width: area.width, height: height)) }
    let equal = heights(nil)
    var chosen = equal
    if 0..<count ~= focus, count > 1, let least = equal.min() {
      let own = layout(least)
      for height in LayoutClass.heights where height > least && height < area.height {
        guard own.isSmallerThan(layout(height)) else { continue }
        let raised = heights(height)
        let lowest = raised.indices.filter { $0 != focus }.map { raised[$0] }.min() ?? 0
        if !layout(lowest).isSmallerThan(own) { chosen = raised }
        break
      }
    }
    var y = area.y
    return chosen.map { height in
      defer { y += height }
      return Rect(x: area.x, y: y, width: area.width, height: height)
    }
  }
}

extension LayoutClass {
  /// The minimum heights of the layout classes, lowest first.
  fileprivate static let heights = [4, 13, 20, 30]

  private var rank: Int {
    switch self {
    case .line: 0
    case .tiny: 1
    case .small: 2
    case .medium: 3
    case .large: 4
    }
  }

  func isSmallerThan(_ other: LayoutClass) -> Bool { rank < other.rank }
}

/// The content of the row that names the clients and marks the focused one. Used for drawing and for mouse events.
package struct ClientSetRow: Sendable {
  package struct Item: Sendable {
    package var index: Int
    package var x: Int
    package var name: String
    package var hasFocus: Bool
    /// The width, including the sign before the name.
    package var width: Int
  }

  /// The columns reserved after a client's name for its state.
  package static let stateColumns = 24
  /// The total width of the signs before and after a name.
  private static let around = 3

  package let items: [Item]

  package init(_ clientSet: ClientSet) {
    // Equal columns, so that a change of state moves nothing.
    let share = max(1, clientSet.size.width / max(1, clientSet.members.count))
    let width = min(ClientName.longest + Self.around + Self.stateColumns, share)
    items = clientSet.members.enumerated().map { index, member in
      Item(
        index: index, x: index * width, name: member.name, hasFocus: index == clientSet.focusIndex, width: width)
    }
  }

  func client(at x: Int) -> Int? { items.first { $0.x..<$0.x + $0.width ~= x }?.index }
}

// SPDX-License-Identifier: Apache-2.0

/// The facts that decide on the layout besides the screen's size: the focus, the contents, and the borders that the
/// user has moved.
package struct Arrangement: Hashable, Sendable {
  /// The places to which the user moved borders, in thousandths of the space they divide; `nil` for those not moved.
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
  /// Whether pane 2 has rows to show; else it keeps a line.
  package var hasQueue = true
  /// The number of listeners that pane 3 has lines for.
  package var listenerCount = 0
  package var borders = Borders()

  /// The rows of pane 3 besides those of listeners.
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

  /// The number of rows above the feed.
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
    // More columns and times have use for more of a wide screen, up to a width: there panes 2 and 3 have, too.
    if width >= 180 { return max(min(80, width * 40 / 100), width * 34 / 100) }
    if width >= 160 { return width * 34 / 100 }
    return layoutClass == .large ? width * 46 / 120 : width * 34 / 80
  }

  /// The width of the document that follows the tree's cursor.
  func documentWidth(of width: Int, beside tree: Int) -> Int {
    let share = borders.document.map { width * $0 / 1000 } ?? width * 30 / 100
    return max(24, min(width - tree - 24, share))
  }

  func queueHeight(of height: Int, _ layoutClass: LayoutClass) -> Int {
    if !hasQueue { return 3 }
    if let share = borders.queue { return max(3, min(height - 4, height * share / 1000)) }
    guard layoutClass == .large else { return height / 2 }
    // Pane 3 needs no more rows than its lines: its facts, a line for each of some listeners, keys and frame.
    return max(height * 9 / 20, height - Self.networkFacts - min(listenerCount, 6))
  }
}

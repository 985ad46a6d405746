// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreModel
package import TerminalCanvas

/// The screen without its contents. It has two parts: the terminal's properties, such as size, theme, mouse and
/// connection, and the user's arrangement of the panes.
package struct ScreenShape: Sendable {
  // MARK: The terminal's half

  /// The size that the terminal last reported.
  package private(set) var size: Size
  package private(set) var theme: String
  package private(set) var isMouseOn: Bool
  /// Whether the selected row is highlighted in its full width. If not, only the sign in the gutter marks it.
  package private(set) var highlightsRows: Bool
  /// Whether the terminal connection is slow. If so, several updates are combined into one frame.
  package private(set) var isLinkSlow = false
  /// The traffic figures of the terminal at `trafficTime`.
  package private(set) var traffic: TerminalTraffic?
  private var trafficTime: Timestamp?

  // MARK: The user's half

  package private(set) var isZoomed = false
  package private(set) var preset = LayoutPreset.balanced
  /// Whether pane 3 shows protocol details: targets, tokens, bytes to the terminal.
  package private(set) var showsFacts = false
  /// The caption for the audience of a demo; empty for none.
  package private(set) var caption = ""
  /// The positions of the borders that the user has moved.
  private(set) var borders = Arrangement.Borders()
  /// The border that is being dragged with the mouse.
  private var draggedBorder: Layout.Border?

  package init(size: Size, theme: String = "", isMouseOn: Bool = true, highlightsRows: Bool = true) {
    self.size = size
    self.theme = theme
    self.isMouseOn = isMouseOn
    self.highlightsRows = highlightsRows
  }

  mutating func resize(to size: Size) { self.size = size }

  mutating func show(theme: String) { self.theme = theme }

  mutating func toggleMouse() { isMouseOn.toggle() }

  mutating func toggleHighlight() { highlightsRows.toggle() }

  mutating func adopt(_ preferences: DashboardPreferences) {
    theme = preferences.theme
    isMouseOn = preferences.isMouseOn
  }

  /// Copies the terminal's properties from another screen.
  mutating func adoptTerminal(of other: ScreenShape) {
    size = other.size
    theme = other.theme
    isMouseOn = other.isMouseOn
    highlightsRows = other.highlightsRows
    isLinkSlow = other.isLinkSlow
  }

  // MARK: The terminal's line

  mutating func note(isLinkSlow: Bool) { self.isLinkSlow = isLinkSlow }

  /// The seconds between two updates of the traffic figures. Drawing an update also causes traffic.
  private static let trafficInterval: Int64 = 10

  mutating func note(_ traffic: TerminalTraffic, at time: Timestamp) {
    if let last = trafficTime, time >= last, time.wholeSeconds(since: last) < Self.trafficInterval { return }
    (self.traffic, trafficTime) = (traffic, time)
  }

  // MARK: Sharing it among panes

  mutating func show(caption: String) { self.caption = caption }

  mutating func toggleFacts() { showsFacts.toggle() }

  mutating func zoom(_ isZoomed: Bool) { self.isZoomed = isZoomed }

  /// Switches to the next layout and resets moved borders.
  mutating func nextLayout() {
    preset = preset.next
    borders = Arrangement.Borders()
  }

  /// Copies the user's arrangement of the panes from another screen.
  mutating func adoptArrangement(of other: ScreenShape) {
    isZoomed = other.isZoomed
    preset = other.preset
    showsFacts = other.showsFacts
    borders = other.borders
  }

  /// Starts dragging a border; `nil` ends it.
  mutating func grab(_ border: Layout.Border?) { draggedBorder = border }

  var isDragging: Bool { draggedBorder != nil }

  /// Moves the dragged border.
  mutating func drag(to point: Point, in layout: Layout) {
    guard let border = draggedBorder else { return }
    func share(_ part: Int, of whole: Int) -> Int { max(0, min(1000, part * 1000 / max(1, whole))) }
    switch border {
    case .tree: borders.tree = share(point.x, of: size.width)
    case .document:
      guard let document = layout.panes[.detail] else { return }
      borders.document = share(point.x - document.x, of: size.width)
    case .state: borders.state = share(point.y - 1, of: size.height - 2)
    case .queue:
      guard let writes = layout.panes[.writes], let network = layout.panes[.network] else { return }
      borders.queue = share(point.y - writes.y, of: writes.height + network.height)
    }
  }
}

extension DashboardState {
  package func layout(_ size: Size) -> Layout {
    var arrangement = Arrangement(
      focus: focus, hasDetail: detail != nil, isZoomed: screen.isZoomed, preset: screen.preset)
    arrangement.opensRow = feed.isOpened && !showsRequests
    arrangement.hasQueue = writes.wantsRoom
    arrangement.listenerCount = listeners.count
    arrangement.borders = screen.borders
    return Layout(size: size, arrangement)
  }
}

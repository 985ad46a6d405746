// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
import FirestoreModel
package import TerminalCanvas

/// The content of the last row: available keys and active modes. Used for drawing and for mouse events.
package struct Footer {
  package struct Hint {
    package var command: Command
    package var key: String
    package var word: String
    package var x: Int
    var width: Int
  }

  /// An active mode. A click on it ends the mode or shows its subject.
  struct Badge {
    var text: String
    var role: Role
    /// The name of the command that a click runs; `nil` if a click does nothing.
    var command: String?
    var x = 0
  }

  /// The hints that fit next to the badges, most useful first.
  package let hints: [Hint]
  package let badges: Line
  private let keymap: Keymap
  private let shownBadges: [Badge]
  private let badgeStart: Int

  package init(_ state: DashboardState, width: Int) {
    keymap = state.configuration.keymap
    (badges, shownBadges) = Self.badges(state, width)
    badgeStart = width - badges.width
    // A caption replaces the keys.
    let isCaptioned = !state.screen.caption.isEmpty
    hints = isCaptioned ? [] : Self.hints(state, width, room: width - (badges.isEmpty ? 0 : badges.width + 1))
  }

  /// The command whose hint or badge is in a column.
  func command(at x: Int) -> Command? {
    if let hint = hints.first(where: { $0.x..<$0.x + $0.width ~= x }) { return hint.command }
    let badge = shownBadges.first { badgeStart + $0.x..<badgeStart + $0.x + SafeText.columns(of: $0.text) ~= x }
    return badge?.command.flatMap { name in
      keymap.command(named: name, in: [.screen]) ?? keymap.unbound.first { $0.name == name }
    }
  }

  /// The commands that the footer shows while the screen shows an earlier time.
  private static let looking: Set<String> = [
    "help", "palette", "filter", "open", "next-pane", "next-tab", "next-client",
  ]

  private static func isOffered(_ command: Command, _ state: DashboardState) -> Bool {
    if command.name == "next-client", state.clientSet == nil { return false }
    if state.isInScenario, state.overlay == nil, !state.canUse(command) { return false }
    guard state.past != nil, state.overlay == nil else { return true }
    return [.past, .replay].contains(command.context) || looking.contains(command.name)
  }

  /// The columns reserved for the focused pane's keys. The keys of the whole screen follow, so they do not move when
  /// another pane gets the focus.
  private static let paneColumns = 22

  private static func hints(_ state: DashboardState, _ width: Int, room: Int) -> [Hint] {
    let isTight = width < 44
    let commands = state.configuration.keymap.commands(in: state.contexts) { $0.hint != nil && isOffered($0, state) }
      .sorted { $0.priority < $1.priority }
    let start = isTight ? 0 : 1
    let end = room - start
    // A scenario has more keys than fit in a pane's columns.
    guard state.overlay == nil, state.past == nil, !state.isInScenario, width >= 72 else {
      return row(of: commands, state, from: start, to: end, isTight)
    }
    // A large pane has a separate row of keys, so its first key is enough here.
    let isRepeated = LayoutClass(state.size) == .large && !PaneHints.names(in: state.focus).isEmpty
    let keys = commands.filter { $0.context != .screen }
    let own = row(of: isRepeated ? Array(keys.prefix(1)) : keys, state, from: start, to: start + paneColumns, isTight)
    let shared = commands.filter { $0.context == .screen }
    return own + row(of: shared, state, from: start + paneColumns + 2, to: end, isTight)
  }

  private static func row(
    of commands: [Command], _ state: DashboardState, from start: Int, to end: Int, _ isTight: Bool
  ) -> [Hint] {
    let gap = isTight ? 1 : 2
    var x = start
    var hints: [Hint] = []
    // The key that explains all others always has room.
    var reserve = commands.first { $0.name == "help" }.map { hint($0, state, at: 0).width + gap } ?? 0
    for command in commands {
      if command.name == "help" { reserve = 0 }
      let hint = hint(command, state, at: x)
      guard x + hint.width + reserve <= end else { continue }
      hints.append(hint)
      x += hint.width + gap
    }
    return hints
  }

  private static func hint(_ command: Command, _ state: DashboardState, at x: Int) -> Hint {
    let key = command.keyText(state.configuration.glyphs, limit: 1)
    let word = command.word(state)
    return Hint(
      command: command, key: key, word: word, x: x, width: SafeText.columns(of: key) + 1 + SafeText.columns(of: word))
  }

  // MARK: Badges

  /// The active modes that fit. Typed input comes first, together with modes that hide the newest rows.
  private static func badges(_ state: DashboardState, _ width: Int) -> (Line, [Badge]) {
    let glyphs = state.configuration.glyphs
    var badges: [Badge] = []
    if let row = state.typing.row { badges.append(Badge(text: "[\(row)G goes to a row]", role: .headerPaused)) }
    if state.typing.awaitsDirection { badges.append(Badge(text: "[PANE h j k l]", role: .headerPaused)) }
    if let count = state.rangeCount {
      badges.append(Badge(text: "[RANGE \(grouped(count))]", role: .headerPaused, command: "range"))
    }
    if state.feed.isPaused {
      let new = state.feed.newCount
      let text = new > 0 ? "[PAUSED +\(grouped(new))]" : "[PAUSED]"
      badges.append(Badge(text: text, role: .headerPaused, command: "toggle-pause"))
    }
    if let filter = filterText(state) {
      let text = "[FILTER \(SafeText.truncated(filter, to: 20, ellipsis: glyphs.ellipsis))]"
      badges.append(Badge(text: text, role: .warn, command: "clear-filter"))
    }
    if state.attachment.isOver {
      badges.append(Badge(text: "[ENDED]", role: .headerOffline, command: "messages"))
    } else if state.network.isOffline {
      // Switching the network off does not bring an unreachable server back.
      let command = state.network.isNetworkEnabled ? "network" : "toggle-network"
      let text = [state.outageText, state.returnText].compactMap(\.self).joined(separator: ", ")
      badges.append(Badge(text: "[OFFLINE \(text)]", role: .headerOffline, command: command))
    } else if state.idleOutage != nil {
      badges.append(Badge(text: "[OFFLINE]", role: .headerOffline, command: "network"))
    }
    if state.listeners.contains(where: { $0.failure == nil && $0.count != nil && $0.isFromCache }) {
      badges.append(Badge(text: "[CACHE]", role: .flagCache, command: "network"))
    }
    if let transfer = state.storage.transfers.running {
      badges.append(Badge(text: transfer.badge, role: .headerPaused, command: "transfer"))
    }
    if state.screen.isLinkSlow { badges.append(Badge(text: "[SLOW LINK]", role: .warn, command: "network")) }
    if state.configuration.isReadOnly {
      badges.append(Badge(text: "[READ-ONLY]", role: .headerPaused, command: nil))
    }
    if state.faultText != nil { badges.append(Badge(text: "[FAULTS]", role: .stateFault, command: "faults")) }
    if state.screen.isZoomed, LayoutClass(state.size).isTiled {
      badges.append(Badge(text: "[ZOOM]", role: .hint, command: "unzoom"))
    }
    var line = Line(glyphs)
    var shown: [Badge] = []
    for var badge in badges where line.width + badge.text.count + 10 <= width {
      if !line.isEmpty { line.skip(1) }
      badge.x = line.width
      line.add(badge.text, badge.role)
      shown.append(badge)
    }
    let listeners = state.listeners.count { $0.failure == nil }
    if line.isEmpty, width >= 72, listeners > 0 {
      line.add("\(listeners) listener\(listeners == 1 ? "" : "s")", .hint)
    }
    if !line.isEmpty, width >= 44 { line.skip(1) }
    return (line, shown)
  }

  private static func filterText(_ state: DashboardState) -> String? {
    var parts: [String] = []
    if let tag = state.feed.onlyListener {
      parts.append(state.listeners.first { $0.tag == tag }?.name ?? "listener")
    }
    if let key = state.feed.onlyDocument { parts.append(key.path.text) }
    if !state.feed.filter.isEmpty { parts.append(state.feed.filter.text) }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }
}

/// A row of keys inside a large pane, taken from the keymap. Unavailable commands are muted. Used for drawing and for
/// mouse events.
package struct PaneHints {
  /// The commands, each with its columns in the row.
  private var places: [(command: Command, columns: Range<Int>)] = []
  package private(set) var line: Line

  /// The names of the commands in a pane's row.
  static func names(in pane: Pane) -> [String] {
    switch pane {
    case .collections: ["filter", "listen", "result", "new", "columns", "sort", "wall"]
    case .writes: ["cancel-write", "mark", "retry", "set-aside", "edit", "copy"]
    case .network: ["faults", "retry", "new", "facts"]
    case .feed, .detail: []
    }
  }

  /// The commands while a result replaces the tree.
  private static let ofResults = ["open", "back", "copy", "edit", "ask-again"]

  package init(_ pane: Pane, _ state: DashboardState, width: Int) {
    let glyphs = state.configuration.glyphs
    line = Line(glyphs)
    line.skip(1)
    let hidden = pane == .writes && state.writes.selected?.isRejected != true ? "edit" : nil
    let names = pane == .collections && state.browser.result != nil ? Self.ofResults : Self.names(in: pane)
    for name in names where name != hidden {
      guard let command = state.configuration.keymap.command(named: name, in: [.pane(pane), .screen]),
        !state.isInScenario || state.canUse(command)
      else { continue }
      let key = command.keyText(glyphs, limit: 1)
      let word = command.word(state)
      let columns = SafeText.columns(of: key) + 1 + SafeText.columns(of: word)
      guard line.width + 2 + columns <= width else { continue }
      if line.width > 1 { line.skip(2) }
      places.append((command, line.width..<line.width + columns))
      // The tree's commands apply to the selection of the focused pane. The commands of other panes look the same with
      // and without the focus, so that a change of focus does not redraw them.
      let isDisabled = (pane == state.focus || pane != .collections) && command.reason(state) != nil
      line.add(key, isDisabled ? .textMuted : .key)
      line.add(" " + word, isDisabled ? .textMuted : .hint)
    }
  }

  func command(at column: Int) -> Command? { places.first { $0.columns.contains(column) }?.command }
}

extension DashboardState {
  /// The area of the newest message, if any. The message is next to the footer's badges, or over a pane's title while
  /// you type in the footer's row. Used for drawing and for mouse events.
  package func toastArea(_ layout: Layout) -> Rect? {
    guard !toasts.isEmpty, let footer = layout.footer else { return nil }
    if overlay?.filterLine != nil {
      let y = layout.tabs?.y ?? layout.panes[.feed]?.y ?? layout.panes[focus]?.y ?? footer.y
      return Rect(x: 0, y: y, width: footer.width, height: 1)
    }
    let badges = Footer(self, width: footer.width).badges
    let width = badges.isEmpty ? footer.width : footer.width - badges.width - 1
    return Rect(x: 0, y: footer.y, width: max(0, width), height: 1)
  }
}

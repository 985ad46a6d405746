// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas

/// The last row: what can be pressed here, and which modes are on.
struct FooterPane {
  private struct Hint {
    var command: Command
    var key: String
    var word: String
    var x: Int
    var width: Int
  }

  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = layout.footer else { return }
    if case .filter(let line)? = state.overlay {
      FilterPrompt(line: line, state: state, glyphs: glyphs).draw(on: &canvas, area)
      return
    }
    let badges = Self.badges(state, area.width)
    for hint in Self.hints(state, area.width) {
      let isDisabled = state.overlay == nil && hint.command.reason(state) != nil
      let used = canvas.put(
        hint.key, at: Point(x: hint.x, y: area.y), role: isDisabled ? .textMuted : .key, maxWidth: area.width - hint.x)
      canvas.put(
        hint.word, at: Point(x: hint.x + used + 1, y: area.y), role: isDisabled ? .textMuted : .hint,
        maxWidth: area.width - hint.x - used - 1)
    }
    canvas.put(badges, x: area.width - badges.width, y: area.y, width: badges.width)
  }

  /// The command whose hint is at a column.
  static func command(at x: Int, _ state: DashboardState, _ width: Int) -> Command? {
    if case .filter? = state.overlay { return nil }
    return hints(state, width).first { x >= $0.x && x < $0.x + $0.width }?.command
  }

  /// As many hints as fit beside the badges, most useful first.
  private static func hints(_ state: DashboardState, _ width: Int) -> [Hint] {
    let glyphs = state.configuration.glyphs
    let isTight = width < 44
    let badgeWidth = badges(state, width).width
    let room = width - (badgeWidth > 0 ? badgeWidth + 1 : 0)
    let commands = Keymap.commands(in: state.contexts) { $0.hint != nil }
    var x = isTight ? 0 : 1
    var hints: [Hint] = []
    // There is always room for the key that tells all others.
    var reserve = commands.first { $0.name == "help" }.map { columns(of: $0, state) + (isTight ? 1 : 2) } ?? 0
    for command in commands.sorted(by: { $0.priority < $1.priority }) {
      if command.name == "help" { reserve = 0 }
      let columns = columns(of: command, state)
      guard x + columns + reserve <= room - (isTight ? 0 : 1) else { continue }
      let key = command.keyText(glyphs, limit: 1)
      hints.append(Hint(command: command, key: key, word: command.word(state), x: x, width: columns))
      x += columns + (isTight ? 1 : 2)
    }
    return hints
  }

  private static func columns(of command: Command, _ state: DashboardState) -> Int {
    let key = command.keyText(state.configuration.glyphs, limit: 1)
    return SafeText.columns(of: key) + 1 + SafeText.columns(of: command.word(state))
  }

  /// The modes that are on, as far as there is room; the newest rows and what hides them come first.
  static func badges(_ state: DashboardState, _ width: Int) -> Line {
    let glyphs = state.configuration.glyphs
    var badges: [(text: String, role: Role)] = []
    if state.feed.isPaused {
      let new = state.feed.newCount
      badges.append((new > 0 ? "[PAUSED +\(grouped(new))]" : "[PAUSED]", .headerPaused))
    }
    if let filter = filterText(state) {
      badges.append(("[FILTER \(SafeText.truncated(filter, to: 20, ellipsis: glyphs.ellipsis))]", .warn))
    }
    if state.network.isOffline {
      let length = VitalSigns(state: state, glyphs: glyphs).outageText ?? ""
      badges.append(("[OFFLINE \(length)]", .headerOffline))
    }
    if state.listeners.contains(where: { $0.failure == nil && $0.count != nil && $0.isFromCache }) {
      badges.append(("[CACHE]", .flagCache))
    }
    if !state.faults.isCalm { badges.append(("[CHAOS]", .stateFault)) }
    if state.isZoomed, LayoutClass(state.size).isTiled { badges.append(("[ZOOM]", .hint)) }
    var line = Line(glyphs)
    for badge in badges where line.width + badge.text.count + 10 <= width {
      if !line.isEmpty { line.skip(1) }
      line.add(badge.text, badge.role)
    }
    if line.isEmpty, width >= 72, !state.listeners.isEmpty {
      line.add("\(state.listeners.count) listener\(state.listeners.count == 1 ? "" : "s")", .hint)
    }
    if !line.isEmpty, width >= 44 { line.skip(1) }
    return line
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

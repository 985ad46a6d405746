// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import TerminalCanvas

/// A row of keys inside a large pane, taken from the keymap; impossible commands are muted. Used by drawing and by the
/// mouse.
package struct PaneHints {
  /// The commands with their columns in the row.
  private var places: [(command: Command, columns: Range<Int>)] = []
  package private(set) var line: Line

  /// The commands of each row, by name.
  static func names(in pane: Pane) -> [String] {
    switch pane {
    case .collections: ["filter", "listen", "open", "new", "columns"]
    case .writes: ["cancel-write", "mark", "retry", "set-aside", "edit", "copy"]
    case .network: ["faults", "retry", "new", "facts"]
    case .feed, .detail: []
    }
  }

  /// The commands while a result is shown in place of the tree.
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
      // The tree's commands are about the selection of the pane with the focus; the others look the same with it and
      // without, so that a change of focus sends none of them.
      let isDisabled = (pane == state.focus || pane != .collections) && command.reason(state) != nil
      line.add(key, isDisabled ? .textMuted : .key)
      line.add(" " + word, isDisabled ? .textMuted : .hint)
    }
  }

  func command(at column: Int) -> Command? { places.first { $0.columns.contains(column) }?.command }
}

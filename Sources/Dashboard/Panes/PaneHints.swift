// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// A row of keys inside a large pane, taken from the keymap; what is impossible now is muted.
enum PaneHints {
  /// The commands of each row, by name.
  static func names(in pane: Pane) -> [String] {
    switch pane {
    case .collections: ["filter", "listen", "open", "new"]
    case .writes: ["cancel-write", "mark", "retry", "edit", "copy"]
    case .network: ["faults", "retry", "new"]
    case .feed, .detail: []
    }
  }

  static func line(
    _ pane: Pane, _ state: DashboardState, _ glyphs: Glyphs, width: Int, without hidden: String? = nil
  ) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    for name in names(in: pane) where name != hidden {
      guard let command = Keymap.command(named: name, in: [.pane(pane), .screen]) else { continue }
      let key = command.keyText(glyphs, limit: 1)
      let word = command.word(state)
      let columns = SafeText.columns(of: key) + 1 + SafeText.columns(of: word)
      guard line.width + 2 + columns <= width else { continue }
      if line.width > 1 { line.skip(2) }
      let isDisabled = pane == state.focus && command.reason(state) != nil
      line.add(key, isDisabled ? .textMuted : .key)
      line.add(" " + word, isDisabled ? .textMuted : .hint)
    }
    return line
  }
}

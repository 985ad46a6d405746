// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// A row of keys inside a large pane, taken from the keymap; what is impossible now is muted.
enum PaneHints {
  static func line(_ commands: [Command], _ pane: Pane, _ state: DashboardState, _ glyphs: Glyphs, width: Int) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    for command in commands {
      guard let binding = Keymap.binding(for: command, in: [.pane(pane), .screen]) else { continue }
      let key = binding.keyText(glyphs, limit: 1)
      let word = binding.hint == nil ? command.rawValue : FooterPane.word(of: binding, pane, state)
      let columns = SafeText.columns(of: key) + 1 + SafeText.columns(of: word)
      guard line.width + 2 + columns <= width else { continue }
      if line.width > 1 { line.skip(2) }
      let isDisabled = pane == state.focus && state.reasonDisabled(command) != nil
      line.add(key, isDisabled ? .textMuted : .key)
      line.add(" " + word, isDisabled ? .textMuted : .hint)
    }
    return line
  }
}

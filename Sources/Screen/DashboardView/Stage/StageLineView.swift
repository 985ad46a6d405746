// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The row about several clients, each with its state and what it has not sent.
struct StageLineView {
  let stage: ClientStage
  let glyphs: Glyphs

  /// The columns of a user, and those that are left for the state.
  private static let (user, signs) = (14, 8)

  func draw(on canvas: inout Canvas, _ area: Rect) {
    guard area.height > 0 else { return }
    canvas.fill(area, role: .header)
    let items = StageLine(stage).items
    for item in items {
      let member = stage.members[item.index]
      var line = Line(glyphs)
      line.add(
        "\(item.hasFocus ? glyphs.cursor : " ")\(item.name) ", item.hasFocus ? .paneTitleFocus : .header, .bold)
      if let user = member.user, user != item.name, line.width + Self.user + Self.signs < item.width {
        line.add(SafeText.truncated("as \(user)", to: Self.user - 1, ellipsis: glyphs.ellipsis) + " ", .header)
      }
      let vitals = VitalSigns(frame: FrameState(member.session.shown), glyphs: glyphs)
      let room = item.width - line.width - 1
      let signs = [VitalSigns.Length.short, .bare, .dot].lazy.map(vitals.line).first { $0.width <= room }
      if let signs { line.add(signs) }
      canvas.put(line, x: area.x + item.x, y: area.y, width: min(item.width, area.width - item.x))
    }
    let end = items.last.map { $0.x + $0.width } ?? 0
    var hint = "the keys act on \(stage.focused.name)"
    if let key = key("next-client") { hint += "; \(key) goes to the next" }
    if stage.isZoomed, let key = key("zoom-client") { hint += ", \(key) shows all" }
    hint += " "
    let columns = SafeText.columns(of: hint)
    guard end + columns <= area.width else { return }
    canvas.put(hint, at: Point(x: area.maxX - columns, y: area.y), role: .header)
  }

  /// The key of a command; `nil` where the user has taken it away.
  private func key(_ name: String) -> String? {
    let keymap = stage.focused.session.shown.configuration.keymap
    return keymap.command(named: name, in: [.screen])?.keys.first.map { Command.text(of: $0, glyphs) }
  }
}

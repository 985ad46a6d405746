// SPDX-License-Identifier: Apache-2.0
package import Dashboard
import DashboardModel
package import TerminalCanvas

/// Draws the screen of one client, or of several that share it. Pure and total.
package func view(_ stage: ClientStage) -> Canvas {
  guard stage.isShared || stage.play != nil else { return view(stage.focused.session.shown) }
  let layout = stage.layout
  let glyphs = stage.focused.session.shown.borderedGlyphs
  var canvas = Canvas(size: stage.size)
  if let play = stage.play {
    let keymap = stage.focused.session.shown.configuration.keymap
    ScenarioStrip(play, keymap, glyphs).draw(on: &canvas, stage.strip)
  }
  if stage.isShared { StageLineView(stage: stage, glyphs: glyphs).draw(on: &canvas, layout.line) }
  for (index, place) in layout.places.enumerated() where !place.isEmpty {
    let state = stage.members[index].session.shown
    var part = view(state)
    if index == stage.focusIndex {
      // The name in its own first row stands out, as the title of a pane with the focus does.
      if let name = state.stage?.own {
        part.put(glyphs.cursor, at: Point(x: 0, y: 0))
        part.apply(role: .paneTitleFocus, to: Rect(x: 0, y: 0, width: name.count + 2, height: 1))
      }
      canvas.cursor = part.cursor.map { Point(x: $0.x + place.x, y: $0.y + place.y) }
    } else {
      Faint.blur(&part, state, keysGoTo: stage.focused.name)
    }
    canvas.draw(part, at: place.origin)
    for link in part.links where link.y + place.y < canvas.size.height {
      canvas.link(
        link.columns.lowerBound + place.x..<link.columns.upperBound + place.x, of: link.y + place.y, to: link.address)
    }
  }
  for separator in layout.separators {
    canvas.verticalLine(at: separator.origin, height: separator.height, glyphs: glyphs)
  }
  return canvas
}

/// The looks of a client that the keys do not act on.
private enum Faint {
  private static let roles: [Role: Role] = [
    .paneTitleFocus: .paneTitle, .cursorGutter: .textMuted, .selection: .selectionBlur,
  ]

  /// Takes the signs of the focus away, and the keys from the last row, which would do nothing there.
  static func blur(_ canvas: inout Canvas, _ state: DashboardState, keysGoTo name: String) {
    canvas.replaceRoles(roles)
    guard state.overlay == nil, state.screen.caption.isEmpty,
      let footer = state.layout(canvas.size).footer
    else { return }
    let badges = Footer(state, width: footer.width).badges.width
    let room = Rect(x: footer.x, y: footer.y, width: footer.width - badges, height: 1)
    canvas.fill(room)
    canvas.put(" the keys act on \(name)", at: room.origin, role: .textMuted, maxWidth: room.width)
  }
}

// SPDX-License-Identifier: Apache-2.0
package import Dashboard
import DashboardModel
package import FirestoreModel
package import TerminalCanvas

/// Draws the whole screen. It has no side effects and accepts any size. The same state always results in the same
/// canvas.
package func view(_ present: DashboardState) -> Canvas {
  var state = present.forItsLine
  state.configuration.glyphs = present.borderedGlyphs
  let frame = FrameState(state)
  var canvas = Canvas(size: state.size)
  let layout = state.layout(canvas.size)
  let glyphs = state.configuration.glyphs
  HeaderLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  guard layout.layoutClass != .line else { return canvas }
  TabLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  for pane in Pane.allCases where layout.panes[pane] != nil {
    PaneFrame(pane: pane, frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    switch pane {
    case .collections: CollectionsPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .writes: WritesPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .network: NetworkPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .feed where state.showsRequests:
      RequestsPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .feed: FeedPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .detail: DetailPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    }
  }
  SessionBandLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  FoldedPanes(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  SelectionStrip(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  OverlayView(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  FooterPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  CoachLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  ToastLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  PressedKeysLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  return canvas
}

/// Draws the screen of one client, or of several clients that share it. It has no side effects and accepts any size.
package func view(_ clientSet: ClientSet) -> Canvas {
  guard clientSet.isShared || clientSet.play != nil else { return view(clientSet.focused.session.shown) }
  let layout = clientSet.layout
  let glyphs = clientSet.focused.session.shown.borderedGlyphs
  var canvas = Canvas(size: clientSet.size)
  if let play = clientSet.play {
    let keymap = clientSet.focused.session.shown.configuration.keymap
    ScenarioStrip(play, keymap, glyphs).draw(on: &canvas, clientSet.strip)
  }
  if clientSet.isShared { ClientSetRowView(clientSet: clientSet, glyphs: glyphs).draw(on: &canvas, layout.line) }
  for (index, place) in layout.places.enumerated() where !place.isEmpty {
    let state = clientSet.members[index].session.shown
    var part = view(state)
    if index == clientSet.focusIndex {
      // The client's name in the first row is highlighted like the title of a focused pane.
      if let name = state.clientSet?.own {
        part.put(glyphs.cursor, at: Point(x: 0, y: 0))
        part.apply(role: .paneTitleFocus, to: Rect(x: 0, y: 0, width: name.count + 2, height: 1))
      }
      canvas.cursor = part.cursor.map { Point(x: $0.x + place.x, y: $0.y + place.y) }
    } else {
      Faint.blur(&part, state, keysGoTo: clientSet.focused.name)
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

/// The colors of a client without the focus.
private enum Faint {
  private static let roles: [Role: Role] = [
    .paneTitleFocus: .paneTitle, .cursorGutter: .textMuted, .selection: .selectionBlur,
  ]

  /// Draws a client as unfocused. Also removes the keys from the last row, because keys have no effect in an unfocused
  /// client.
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

/// Draws the row that names the clients, each with its state and its unsent writes.
struct ClientSetRowView {
  let clientSet: ClientSet
  let glyphs: Glyphs

  /// The width for a client's user, and the remaining width for its state.
  private static let (user, signs) = (14, 8)

  func draw(on canvas: inout Canvas, _ area: Rect) {
    guard area.height > 0 else { return }
    canvas.fill(area, role: .header)
    let items = ClientSetRow(clientSet).items
    for item in items {
      let member = clientSet.members[item.index]
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
    var hint = "the keys act on \(clientSet.focused.name)"
    if let key = key("next-client") { hint += "; \(key) goes to the next" }
    if clientSet.isZoomed, let key = key("zoom-client") { hint += ", \(key) shows all" }
    hint += " "
    let columns = SafeText.columns(of: hint)
    guard end + columns <= area.width else { return }
    canvas.put(hint, at: Point(x: area.maxX - columns, y: area.y), role: .header)
  }

  /// The key that runs a command; `nil` if the user has removed the key.
  private func key(_ name: String) -> String? {
    let keymap = clientSet.focused.session.shown.configuration.keymap
    return keymap.command(named: name, in: [.screen])?.keys.first.map { Command.text(of: $0, glyphs) }
  }
}

extension SessionPart {
  /// The contents of the screen at a time when it changed.
  package struct Screen: Sendable {
    /// The seconds since the first screen.
    package var seconds: Double
    package var canvas: Canvas
  }

  /// The screens between two times.
  /// - Parameter step: the sampling interval in seconds.
  package func screens(from start: Timestamp, to end: Timestamp, step: Double) -> [Screen] {
    var state = state
    var screens: [Screen] = []
    var next = actions.startIndex
    let count = max(0, Int(Double(end.milliseconds(since: start)) / (step * 1000)))
    for look in 0...count {
      let seconds = Double(look) * step
      let moment = Timestamp(microseconds: start.microseconds + Int64(seconds * 1_000_000))
      while next < actions.endIndex, actions[next].time <= moment {
        _ = update(&state, actions[next])
        next += 1
      }
      let canvas = view(state)
      if screens.last?.canvas != canvas { screens.append(Screen(seconds: seconds, canvas: canvas)) }
    }
    return screens
  }
}

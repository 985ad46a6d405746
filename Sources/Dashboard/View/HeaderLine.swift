// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// The first row: what this is connected to, and the vital signs.
struct HeaderLine {
  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let width = layout.header.width
    guard layout.header.height > 0 else { return }
    canvas.fill(layout.header, role: .header)
    let vitals = VitalSigns(state: state, glyphs: glyphs)
    let wanted: VitalSigns.Length =
      switch layout.layoutClass {
      case .large: .full
      case .medium: .medium
      case .small: .plain
      case .tiny, .line: .dense
      }
    let lengths = VitalSigns.Length.allCases.drop { $0.rawValue < wanted.rawValue }
    let line = lengths.lazy.map(vitals.line).first { $0.width <= width } ?? vitals.line(.dot)
    if wanted == .dense {
      canvas.put(line, x: 0, y: 0, width: width)
      let clock = vitals.clock
      if line.width + 1 + clock.count <= width {
        canvas.put(clock, at: Point(x: width - clock.count, y: 0), role: .header)
      }
      return
    }
    canvas.put(line, x: width - line.width, y: 0, width: line.width)
    let room = width - line.width - 1
    if let identity = identities.first(where: { $0.width <= room }) {
      canvas.put(identity, x: 0, y: 0, width: room)
    } else if let shortest = identities.last {
      canvas.put(shortest, x: 0, y: 0, width: room)
    }
  }

  /// Ways to say where this is, longest first. The kind of backend is dropped last: it tells play from earnest.
  private var identities: [Line] {
    let backend = state.configuration.backend
    let gap = layout.layoutClass == .large ? "  " : " "
    let project = backend.database == "(default)" ? backend.project : "\(backend.project)/\(backend.database)"
    func line(name: Bool, kind: Bool, host: Bool, user: Bool, why: Bool = true) -> Line {
      var line = Line(glyphs)
      line.add(" ", .header)
      if name {
        line.add("hearth", .header, .bold)
        line.add(gap, .header)
      }
      line.add(project, .header)
      if kind {
        line.add(gap, .header)
        line.add(kindText, backend.kind == .cloud ? .headerProd : .header)
      }
      if let badge = state.storage?.badge {
        line.add(gap, .header)
        line.add(why ? "[\(badge)]" : "[\(badge.prefix { $0 != ":" })]", .headerOffline)
      }
      if host, let address = backend.address { line.add(" " + address, .header) }
      if user, let person = backend.user { line.add("\(gap)as \(person)", .header) }
      return line
    }
    let isLarge = layout.layoutClass == .large
    let all = [
      line(name: true, kind: true, host: true, user: true), line(name: true, kind: true, host: true, user: false),
      line(name: true, kind: true, host: false, user: false), line(name: false, kind: true, host: false, user: false),
      line(name: false, kind: true, host: false, user: false, why: false),
      line(name: false, kind: false, host: false, user: false, why: false),
    ]
    return isLarge ? all : layout.layoutClass == .medium ? Array(all.dropFirst(2)) : Array(all.dropFirst(3))
  }

  private var kindText: String {
    switch state.configuration.backend.kind {
    case .embedded: "EMBEDDED"
    case .emulator: "EMULATOR"
    case .cloud: "CLOUD"
    }
  }
}

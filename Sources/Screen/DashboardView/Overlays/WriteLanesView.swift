// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// Draws the lanes of a write. Each lane is a line with its name, its position on the time axis, and its result.
struct WriteLanesView {
  let lanes: WriteLanes
  let glyphs: Glyphs

  /// The minimum width in columns at which the time axis is shown.
  static let narrowest = 100
  private static let names = 14
  private static let texts = 34

  /// The lines of the lanes, either on a time axis or as a list.
  func lines(width: Int) -> [Line] {
    guard width >= Self.narrowest - 10 else {
      return lanes.list.map { text in
        var line = Line(glyphs)
        line.skip(1)
        line.add(SafeText.truncated(text, to: width - 1, ellipsis: glyphs.ellipsis))
        return line
      }
    }
    let axis = width - 1 - Self.names - Self.texts - 1
    return lanes.lanes.map { line($0, axis: axis) } + [foot(axis: axis)]
  }

  private func line(_ lane: WriteLanes.Lane, axis: Int) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    line.cell(lane.name, .textMuted, width: Self.names)
    let start = line.width
    let from = lanes.scale.column(of: lane.from, width: axis)
    let to = lane.to.map { lanes.scale.column(of: $0, width: axis) } ?? from
    let breaks = lanes.scale.breaks(width: axis)
    for column in 0..<axis {
      let isBroken = breaks.contains { $0.columns.contains(column) && column > $0.columns.lowerBound }
      switch column {
      case to: line.add(mark(lane.kind), role(lane.kind))
      case from..<to where lane.kind == .offline: line.add(glyphs.barOutage, .chartOutage)
      case from..<to: line.add(isBroken ? glyphs.dashedHorizontal : glyphs.horizontal, role(lane.kind))
      case 0..<from where isBroken: line.add(" ")
      default: line.add(" ")
      }
    }
    line.skip(to: start + axis + 1)
    line.add(SafeText.truncated(lane.text, to: Self.texts, ellipsis: glyphs.ellipsis), textRole(lane.kind))
    return line
  }

  /// The labels of the axis: the duration of a column, and of each shortened wait.
  private func foot(axis: Int) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    line.cell("time", .textMuted, width: Self.names)
    let start = line.width
    for part in lanes.scale.breaks(width: axis) {
      // The shortest text of a break is two signs and its length.
      let text = SafeText.truncated(
        "\(glyphs.dashedHorizontal) \(part.text) \(glyphs.dashedHorizontal)", to: part.columns.count + 1,
        ellipsis: glyphs.ellipsis)
      fill(&line, to: start + part.columns.lowerBound)
      line.add(text, .warn)
    }
    fill(&line, to: start + axis)
    line.skip(1)
    if let column = lanes.scale.column(width: axis) {
      let length = column < .milliseconds(1) ? "less than 1 ms" : TimeText.span(column)
      line.add("a column is \(length)", .textMuted)
    }
    return line
  }

  private func fill(_ line: inout Line, to column: Int) {
    line.add(String(repeating: glyphs.horizontal, count: max(0, column - line.width)), .border)
  }

  private func mark(_ kind: WriteLanes.Lane.Kind) -> String {
    switch kind {
    case .made, .echo, .result: glyphs.online
    case .offline: glyphs.barOutage
    case .tried: glyphs.online
    case .failed, .rejected: glyphs.cross
    case .acknowledged: glyphs.check
    }
  }

  private func role(_ kind: WriteLanes.Lane.Kind) -> Role {
    switch kind {
    case .made, .echo: .sourceLocal
    case .offline: .chartOutage
    case .tried: .writeInflight
    case .failed: .writeBackoff
    case .rejected: .writeRejected
    case .acknowledged: .writeAcked
    case .result: .sourceServer
    }
  }

  private func textRole(_ kind: WriteLanes.Lane.Kind) -> Role {
    kind == .failed || kind == .rejected ? .warn : .text
  }
}

// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The lines about the program whose client is shown.
extension NetworkPane {
  /// The lines about the program; empty where the client is the dashboard's own.
  var attachedLines: [Line] {
    guard let program = frame.state.configuration.attached else { return [] }
    var lines: [Line] = []
    if let end = frame.state.attachment.end {
      lines.append(fact("client", "\(end): what was last known", .warn))
    } else {
      let way =
        program.isScenario == true
        ? "which a scenario moves" : program.allowsControl ? "looked at and controlled from here" : "looked at only"
      lines.append(fact("client", "of \(program.title), \(way)", .text))
    }
    if frame.state.attachment.missedSnapshots > 0 {
      let count = frame.state.attachment.missedSnapshots
      lines.append(fact("missed", "\(grouped(count)) snapshot\(count == 1 ? "" : "s"), not told", .warn))
    }
    return lines
  }
}

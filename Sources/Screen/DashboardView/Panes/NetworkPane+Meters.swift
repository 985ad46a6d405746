// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The line that counts the bytes sent to the terminal.
extension NetworkPane {
  /// The bytes and frames sent to the terminal.
  func line(of traffic: TerminalTraffic) -> Line {
    let mean = traffic.frames > 0 ? ", \(ByteText.short(traffic.bytes / traffic.frames)) each" : ""
    let frames = "\(grouped(traffic.frames)) frame\(traffic.frames == 1 ? "" : "s")"
    return fact("tty", "\(ByteText.short(traffic.bytes)) in \(frames)\(mean)", .text)
  }
}

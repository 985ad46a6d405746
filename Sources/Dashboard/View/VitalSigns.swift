// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// Connection, round trip, pending writes and event rate: the figures that never leave the screen.
struct VitalSigns {
  enum Length: Int, CaseIterable { case full, medium, plain, dense, short, bare, dot }

  let state: DashboardState
  let glyphs: Glyphs

  var word: String {
    if state.network.isOffline { return "OFFLINE" }
    switch state.network.onlineState {
    case .online: return "ONLINE"
    case .unknown where isIdle: return "READY"
    case .unknown, .offline: return "CONNECTING"
    }
  }

  /// Nothing to watch and nothing to send: there is no stream that could tell whether the backend is there.
  private var isIdle: Bool {
    state.network.watch.state == .closed && state.network.write.state == .closed && state.network.activeTargets == 0
  }

  var glyph: String { state.network.isOffline ? glyphs.offline : glyphs.online }

  var role: Role {
    if state.network.isOffline { return .headerOffline }
    return state.network.onlineState == .online || isIdle ? .stateOnline : .stateConnecting
  }

  /// The newest round trip, `184ms`; of an outage its length; nothing before the first.
  private var timing: String {
    if let outageText = state.outageText { return outageText }
    guard let newest = state.network.roundTrips.last else { return "" }
    let milliseconds = TimeText.wholeMilliseconds(newest)
    return milliseconds < 10_000 ? "\(milliseconds)ms" : "\(milliseconds / 1000)s"
  }

  func line(_ length: Length) -> Line {
    var line = Line(glyphs)
    let pending = "\(glyphs.pending)\(state.writes.waiting)"
    let pendingRole: Role = state.writes.waiting == 0 ? .header : .flagPending
    let rate = state.rate.perSecond(at: state.now)
    switch length {
    case .full:
      line.add("\(glyph) \(word)", role)
      if let outageText = state.outageText {
        line.add(" \(outageText)" + (state.network.isNetworkEnabled ? "" : " (you)"), role)
      } else if !timing.isEmpty {
        line.add("  rtt \(timing)", .header)
      }
      line.add("   ", .header)
      line.add("\(pending) pending", pendingRole)
      if let progress = state.writes.progress, !state.network.isOffline {
        line.add("  \(grouped(progress.done)) of \(grouped(progress.total)) sent", .header)
      }
      line.add("   \(rate) ev/s \(sparkline(8))   \(clock) ", .header)
    case .medium, .plain:
      line.add("\(glyph) \(word)", role)
      let who = length == .medium && state.network.isOffline && !state.network.isNetworkEnabled ? " (you)" : ""
      if !timing.isEmpty { line.add(" \(timing)\(who)", state.network.isOffline ? role : .header) }
      line.add("  ", .header)
      line.add(pending, pendingRole)
      if length == .medium, let progress = state.writes.progress, !state.network.isOffline {
        line.add(" of \(progress.total)", .header)
      }
      line.add("  \(rate)/s" + (length == .medium ? " \(sparkline(4))" : "") + "  \(clock) ", .header)
    case .dense, .short, .bare:
      let name = state.network.isOffline ? "OFF" : state.network.onlineState == .online ? "ON" : "..."
      line.add(length == .dense ? "\(glyph) \(word)" : glyph + name, role)
      if length != .bare, !timing.isEmpty { line.add(" \(timing)", state.network.isOffline ? role : .header) }
      line.add(" ", .header)
      line.add(pending, pendingRole)
      line.add(" \(rate)/s", .header)
    case .dot:
      line.add(glyph, role)
      line.add(pending, pendingRole)
    }
    return line
  }

  var clock: String { TimeText.clock(state.clock, offset: state.configuration.utcOffset) }

  private func sparkline(_ columns: Int) -> String {
    glyphs.sparkline(Array(state.rate.history(at: state.now).suffix(columns)))
  }
}

// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// Draws the first row: the database and backend, and the most important figures.
struct HeaderLine {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let width = layout.header.width
    guard layout.header.height > 0 else { return }
    canvas.fill(layout.header, role: .header)
    let vitals = VitalSigns(frame: frame, glyphs: glyphs)
    let wanted: VitalSigns.Length =
      switch layout.layoutClass {
      case .large: .full
      case .medium: .medium
      case .small: .plain
      case .tiny, .line: .dense
      }
    let lengths = VitalSigns.Length.allCases.drop { $0.rawValue < wanted.rawValue }
    let name = self.name
    canvas.put(name, x: 0, y: 0, width: width)
    let line = lengths.lazy.map(vitals.line).first { $0.width <= width - name.width } ?? vitals.line(.dot)
    if wanted == .dense, let badge = frame.state.past?.badges(frame.state).last {
      var past = Line(glyphs)
      past.add(badge + " ", .headerPaused)
      canvas.put(past, x: name.width, y: 0, width: width - name.width)
      canvas.put(line, x: name.width + past.width, y: 0, width: width - name.width - past.width)
      return
    }
    if wanted == .dense {
      canvas.put(line, x: name.width, y: 0, width: width - name.width)
      let clock = vitals.clock(.short)
      if name.width + line.width + 1 + clock.count <= width {
        canvas.put(clock, at: Point(x: width - clock.count, y: 0), role: .header)
      }
      return
    }
    canvas.put(line, x: width - line.width, y: 0, width: line.width)
    let room = width - line.width - name.width - 1
    if let badges = frame.state.past?.badges(frame.state) { return draw(badges, width, line, on: &canvas) }
    if let identity = identities.first(where: { $0.width <= room }) {
      canvas.put(identity, x: name.width, y: 0, width: room)
    } else if let shortest = identities.last {
      canvas.put(shortest, x: name.width, y: 0, width: room)
    }
  }

  /// The client's name if there are several clients. It is shown on screens of any width.
  private var name: Line {
    var line = Line(glyphs)
    if let clientSet = frame.state.clientSet { line.add(" \(clientSet.own) ", .header, .bold) }
    return line
  }

  /// Draws the badges that are shown while the screen shows an earlier time. They precede the name of the database.
  private func draw(_ badges: [String], _ width: Int, _ signs: Line, on canvas: inout Canvas) {
    canvas.fill(layout.header, role: .header)
    let name = self.name
    canvas.put(name, x: 0, y: 0, width: width)
    let rooms = [width - name.width - signs.width - 1, width - name.width]
    for room in rooms {
      for badge in badges {
        var line = Line(glyphs)
        line.add(" ", .header)
        line.add(badge, .headerPaused)
        guard line.width <= room else { continue }
        let identity = identities.first { line.width + $0.width <= room } ?? Line(glyphs)
        canvas.put(line, x: name.width, y: 0, width: width)
        canvas.put(identity, x: name.width + line.width, y: 0, width: identity.width)
        if room < width - name.width { canvas.put(signs, x: width - signs.width, y: 0, width: signs.width) }
        return
      }
    }
  }

  /// Texts that identify the database and backend, longest first. The kind of backend is omitted last, because it
  /// distinguishes real data from test data.
  private var identities: [Line] {
    let backend = frame.state.configuration.backend
    let gap = layout.layoutClass == .large ? "  " : " "
    let project = backend.database == "(default)" ? backend.project : "\(backend.project)/\(backend.database)"
    func line(name wanted: Bool, kind: Bool, host: Bool, user: Bool, why: Bool = true) -> Line {
      // A client's name replaces the program's.
      let name = wanted && frame.state.clientSet == nil
      var line = Line(glyphs)
      // Real data has a separate color, so that it is not mistaken for test data.
      let role: Role = backend.isProduction ? .headerProd : .header
      if frame.state.clientSet == nil { line.add(" ", role) }
      if name { line.add("hearth", role, .bold) }
      if kind, let connection = backend.name {
        if name { line.add(gap, role) }
        line.add(SafeText.truncated(connection, to: 24) + (name ? "" : gap), role)
      }
      // The default project has the name of the program.
      if (!name && frame.state.clientSet == nil) || project != "hearth" {
        if name { line.add(gap, role) }
        line.add(project, role)
      }
      if let program = frame.state.configuration.attached {
        line.add(gap, role)
        let standing = program.isScenario == true ? "SCENARIO" : "ATTACHED \(program.number)"
        line.add(name || kind ? "\(standing) \(program.name)" : program.name, role)
      } else if kind {
        line.add(gap, role)
        line.add(kindText, role)
      }
      if let badge = frame.state.storage.notice?.badge {
        line.add(gap, .header)
        line.add(why ? "[\(badge)]" : "[\(badge.prefix { $0 != ":" })]", .headerOffline)
      }
      if host, let address = backend.address { line.add(" " + address, role) }
      if user, let person = backend.user { line.add("\(gap)as \(person)", role) }
      if backend.isProduction { line.add(" ", role) }
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
    switch frame.state.configuration.backend.kind {
    case .embedded: "LOCAL DATABASE"
    case .emulator: "EMULATOR"
    case .cloud: "CLOUD"
    }
  }
}

/// The figures that are always on screen: connection, round trip, pending writes and event rate.
struct VitalSigns {
  enum Length: Int, CaseIterable { case full, medium, plain, dense, short, bare, dot }

  let frame: FrameState
  let glyphs: Glyphs

  var word: String {
    stateWord.text
  }

  /// The word for the connection's state, with details: `REFUSED: unauthenticated`.
  var wordInFull: String {
    let refusal = stateWord == .refused ? frame.state.browser.rootsFailure?.code.name : nil
    return word + ((refusal ?? stateWord.remark).map { ": \($0)" } ?? "")
  }

  private var stateWord: StateWord {
    if frame.state.attachment.isOver { return .ended }
    if frame.state.network.isOffline { return .offline }
    switch frame.state.network.onlineState {
    case .online: return .online
    case .unknown where isRefused: return .refused
    case .unknown where frame.state.idleOutage != nil: return .offline
    case .unknown where frame.state.isIdle && !isAsking: return .notConnected
    case .unknown, .offline: return .connecting
    }
  }

  /// Whether the client is waiting for the first list of collections.
  private var isAsking: Bool {
    frame.state.browser.roots == nil && frame.state.configuration.attached == nil
      && frame.state.configuration.backend.kind != .embedded
  }

  /// Whether the server rejects this client's credentials. The request for the list of collections shows this.
  private var isRefused: Bool { frame.state.isIdle && frame.state.browser.rootsFailure?.code == .unauthenticated }

  var glyph: String { [.online, .connecting].contains(stateWord) ? glyphs.online : glyphs.offline }

  var role: Role {
    if [.offline, .ended, .refused].contains(stateWord) { return .headerOffline }
    return stateWord == .notConnected ? .header : stateWord == .online ? .stateOnline : .stateConnecting
  }

  /// ` (you)` if the user switched the network off; otherwise empty.
  private var plugMark: String {
    frame.state.network.isNetworkEnabled || frame.state.plugHolder != "you" ? "" : " (you)"
  }

  /// The newest round trip (`184ms`), the length of an outage, or `silent 0:31` while a response of the server is
  /// overdue. Empty before the first round trip.
  private var timing: String {
    if let outageText = frame.state.outageText { return outageText }
    if let silence { return "silent " + TimeText.elapsed(seconds: silence) }
    guard !frame.state.attachment.isOver, let newest = frame.state.network.roundTrips.last else { return "" }
    let milliseconds = TimeText.wholeMilliseconds(newest)
    return milliseconds < 10_000 ? "\(milliseconds)ms" : "\(milliseconds / 1000)s"
  }

  /// The time in seconds after which the header shows the age of the oldest pending write, or how long the server has
  /// sent nothing.
  private static let patience: Int64 = 5

  /// The seconds since the oldest pending write was made, if the server counts as reachable. `nil` for less than
  /// `patience`.
  private var wait: Int64? {
    guard !frame.state.network.isOffline, !frame.state.attachment.isOver, let oldest = frame.state.writes.oldest else {
      return nil
    }
    let seconds = frame.state.now.wholeSeconds(since: oldest)
    return seconds < Self.patience ? nil : seconds
  }

  private var waitingAge: String { wait.map { " " + TimeText.elapsed(seconds: $0) } ?? "" }

  /// The seconds for which the server has sent nothing although a write waits for its response. `nil` for less than
  /// `patience`.
  private var silence: Int64? {
    guard let wait, frame.state.network.onlineState == .online else { return nil }
    let heard = max(frame.state.network.since, frame.state.network.lastSnapshotAt ?? frame.state.network.since)
    let seconds = min(wait, frame.state.now.wholeSeconds(since: heard))
    return seconds < Self.patience ? nil : seconds
  }

  func line(_ length: Length) -> Line {
    var line = Line(glyphs)
    let pending = "\(glyphs.pending)\(frame.state.writes.waiting)"
    let pendingRole: Role = frame.state.writes.waiting == 0 ? .header : .flagPending
    let figure = "\(frame.state.feed.rate.perSecond(at: frame.state.now))"
    // The figure has room for two digits, so the text to its left rarely moves.
    let rate = String(repeating: " ", count: max(0, 2 - figure.count)) + figure
    switch length {
    case .full:
      line.add("\(glyph) \(wordInFull)", role)
      if let outageText = frame.state.outageText {
        line.add(" \(outageText)" + plugMark, role)
      } else if !timing.isEmpty {
        line.add(silence == nil ? "  rtt \(timing)" : " \(timing)", .header)
      }
      line.add("   ", .header)
      line.add("\(pending) pending" + waitingAge, pendingRole)
      addRejected(to: &line, gap: "  ", word: " rejected")
      if let progress = frame.state.writes.progress, !frame.state.network.isOffline {
        line.add("  \(grouped(progress.done)) of \(grouped(progress.total)) sent", .header)
      }
      line.add("  \(rate) ev/s \(sparkline(8))   \(clock(.long)) ", .header)
    case .medium, .plain:
      line.add("\(glyph) \(word)", role)
      let who = length == .medium && frame.state.network.isOffline ? plugMark : ""
      if !timing.isEmpty { line.add(" \(timing)\(who)", frame.state.network.isOffline ? role : .header) }
      line.add("  ", .header)
      line.add(pending + (length == .medium ? waitingAge : ""), pendingRole)
      addRejected(to: &line)
      if length == .medium, let progress = frame.state.writes.progress, !frame.state.network.isOffline {
        line.add(" of \(progress.total)", .header)
      }
      line.add(" \(rate)/s" + (length == .medium ? " \(sparkline(4))" : "") + "  \(clock(.short)) ", .header)
    case .dense, .short, .bare:
      let name =
        frame.state.attachment.isOver
        ? "END" : stateWord == .offline ? "OFF" : frame.state.network.onlineState == .online ? "ON" : "..."
      line.add(length == .dense ? "\(glyph) \(word)" : glyph + name, role)
      if length != .bare, !timing.isEmpty { line.add(" \(timing)", frame.state.network.isOffline ? role : .header) }
      line.add(" ", .header)
      line.add(pending, pendingRole)
      addRejected(to: &line)
      line.add(" \(figure)/s", .header)
    case .dot:
      line.add(glyph, role)
      line.add(pending, pendingRole)
      addRejected(to: &line, gap: "")
    }
    return line
  }

  /// Adds the count of rejected batches, `!2`, if there are any.
  private func addRejected(to line: inout Line, gap: String = " ", word: String = "") {
    let count = frame.state.writes.refusedCount
    guard count > 0 else { return }
    line.add(gap, .header)
    line.add("!\(grouped(count))\(word)", .writeRejected)
  }

  enum ClockLength { case long, short }

  /// The current time while the screen counts seconds. Otherwise the time of the last event, with a label that says so.
  func clock(_ length: ClockLength) -> String {
    let offset = frame.state.configuration.utcOffset
    guard !frame.state.hasRunningClock, !frame.state.headerClock.runsOn else {
      return TimeText.clock(frame.state.headerClock.time, offset: offset)
    }
    let words = StateWord.idle.text(at: frame.state.headerClock.lastNews, offset: offset)
    return length == .long ? words : "idle " + words.suffix(8)
  }

  private func sparkline(_ columns: Int) -> String {
    glyphs.sparkline(Array(frame.state.feed.rate.history(at: frame.state.now).suffix(columns)))
  }
}

// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreText
import TerminalCanvas

/// Draws pane 3: the connection, its quality, and the work that waits for the connection.
struct NetworkPane {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  /// Whether the program whose client is shown has ended. In this case the state of its connection is unknown.
  private var isOver: Bool { frame.state.attachment.isOver }

  func draw(on canvas: inout Canvas) {
    let geometry = frame.state.geometry(of: .network, layout)
    let area = geometry.content
    guard !area.isEmpty else { return }
    let isLarge = layout.layoutClass == .large
    var lines = [stateLine(width: area.width)]
    lines += attachedLines
    if isLarge {
      lines += [
        streamLine("watch", frame.state.network.watch, watchFacts, width: area.width),
        streamLine("write", frame.state.network.write, writeFacts, width: area.width),
      ]
    } else {
      lines += narrowStreamLines(width: area.width)
    }
    // Long facts continue on further lines if the screen is large.
    let wrapped = isLarge ? 3 : 1
    if let faults = frame.state.faultText, !isOver {
      lines += facts("faults", faults, .stateFault, width: area.width, most: wrapped)
    }
    if let notice = frame.state.storage.notice?.message {
      lines += facts("cache", notice, .warn, width: area.width, most: wrapped)
    }
    if let (text, role) = companyText, !isOver { lines += facts("data", text, role, width: area.width, most: wrapped) }
    if frame.state.network.isOffline, !isOver { lines.append(reconnectLine) }
    if isLarge, let line = cacheLine { lines.append(line) }
    if frame.state.screen.showsFacts, let traffic = frame.state.screen.traffic { lines.append(line(of: traffic)) }
    // The band above the feed shows the outages of the whole session.
    let hasRuler = layout.band == nil
    if hasRuler { lines.append(outageLine(width: area.width)) }
    if !isLarge, let line = cacheLine { lines.append(line) }
    var free = area.height - lines.count - (geometry.hints == nil ? 0 : 2)
    let reads = readLines(width: area.width, limit: free > 0 ? max(1, free / 2) : 0)
    free -= reads.count
    let figures = figureLines(width: area.width, room: max(0, free))
    lines.insert(contentsOf: figures, at: lines.count - (hasRuler ? 1 : 0) - (isLarge || cacheLine == nil ? 0 : 1))
    lines += reads
    let reserved = (geometry.hints == nil ? 0 : 2) + (frame.state.connectionTrouble == nil ? 0 : 2)
    lines += trafficLines(width: area.width, room: area.height - lines.count - reserved)
    // The second line of the reason has the remedy. It is more useful than the last of the other lines, unless those
    // report further problems.
    let isAlone = frame.state.faultText == nil && frame.state.storage.notice == nil && area.height >= 4
    let spare = max(isAlone ? 1 : 0, area.height - lines.count - 1)
    lines.insert(contentsOf: reasonLines(width: area.width, spare: spare), at: 1)
    for (row, line) in lines.prefix(area.height).enumerated() {
      canvas.put(line, x: area.x, y: area.y + row, width: area.width)
    }
    if EmptyPage.isShown(frame.state), area.width < 60 {
      let y = area.y + lines.count + 1
      EmptyPage(frame: frame, glyphs: glyphs).drawCommands(
        in: Rect(x: area.x, y: y, width: area.width, height: (geometry.hints ?? area.maxY) - y - 1), on: &canvas)
    }
    guard let y = geometry.hints, lines.count < area.height else { return }
    canvas.put(PaneHints(.network, frame.state, width: area.width).line, x: area.x, y: y, width: area.width)
  }

  static func count(_ state: DashboardState) -> String {
    if state.isInScenario { return "scenario" }
    if state.configuration.attached != nil { return !state.attachment.isOver ? "attached" : "ended" }
    if let name = state.configuration.backend.name { return SafeText.truncated(name, to: 16) }
    return switch state.configuration.backend.kind {
    case .embedded: "local database"
    case .emulator: "emulator"
    case .cloud: "cloud"
    }
  }

  // MARK: Lines

  private func stateLine(width: Int) -> Line {
    let vitals = VitalSigns(frame: frame, glyphs: glyphs)
    var line = Line(glyphs)
    line.skip(1)
    let isWide = width >= 60
    line.add("\(vitals.glyph) \(isWide ? vitals.wordInFull : vitals.word)", vitals.role)
    if let outage = frame.state.outageText {
      line.add(isWide ? " for \(outage)" : " \(outage)", vitals.role)
      if !frame.state.network.isNetworkEnabled {
        line.add(frame.state.returnText.map { ", \($0)" } ?? " by \(frame.state.plugHolder)", .textMuted)
      }
    } else if frame.state.network.onlineState == .online, !frame.state.attachment.isOver {
      // The start time replaces a duration, because an idle screen must not count.
      line.add(
        " since \(TimeText.clock(frame.state.network.since, offset: frame.state.configuration.utcOffset))", .textMuted)
    }
    let button = NetworkSwitch(frame.state, width: width)
    let isUseful = frame.state.configuration.attached.map { $0.allowsControl && !frame.state.attachment.isOver } ?? true
    guard isUseful, line.width < button.columns.lowerBound else { return line }
    line.skip(to: button.columns.lowerBound)
    line.add(button.text, .key)
    return line
  }

  private func streamLine(_ name: String, _ stream: StreamStatus, _ facts: [String], width: Int) -> Line {
    var line = row(name)
    line.cell(text(of: stream), role(of: stream), width: 14)
    // Omits a fact that does not fit if the next one fits whole.
    for fact in facts where line.width + fact.count <= width { line.cell(fact, width: max(14, fact.count + 2)) }
    if isOver { return line }
    if let error = stream.lastError { line.add(error.code.name, .warn) }
    return line
  }

  private func narrowStreamLines(width: Int) -> [Line] {
    var first = Line(glyphs)
    first.skip(1)
    first.add("watch ", .textMuted)
    first.add(text(of: frame.state.network.watch), role(of: frame.state.network.watch))
    let showsFacts = frame.state.screen.showsFacts
    if frame.state.network.watch.state == .open, showsFacts, !isOver {
      first.add(" \(frame.state.network.activeTargets)")
    }
    first.skip(to: min(18, width / 2))
    if first.width >= 18 { first.skip(2) }
    first.add("write ", .textMuted)
    first.add(text(of: frame.state.network.write), role(of: frame.state.network.write))
    let inFlight = frame.state.network.inFlightWrites
    if frame.state.network.write.state == .open, showsFacts || inFlight > 0, !isOver {
      first.add(showsFacts ? " \(inFlight)/10" : " \(inFlight) in flight")
    }
    guard !isOver, frame.state.connectionTrouble == nil,
      let error = frame.state.network.watch.lastError ?? frame.state.network.write.lastError
    else {
      return [first]
    }
    return [first, fact("error", error.code.name, .warn)]
  }

  private var watchFacts: [String] {
    guard frame.state.network.watch.state == .open, frame.state.screen.showsFacts, !isOver else { return [] }
    let count = frame.state.network.activeTargets
    let token = frame.state.network.lastSnapshotAt.map {
      "resume token of \(TimeText.clock($0, offset: frame.state.configuration.utcOffset))"
    }
    return ["\(count) target\(count == 1 ? "" : "s")", token].compactMap(\.self)
  }

  private var writeFacts: [String] {
    guard frame.state.network.write.state == .open, !isOver else { return [] }
    let pipeline = frame.state.screen.showsFacts ? ["pipeline \(frame.state.network.inFlightWrites)/10"] : []
    return ["\(frame.state.network.inFlightWrites) in flight"] + pipeline
  }

  private func text(of stream: StreamStatus) -> String {
    if isOver { return glyphs.dash }
    return switch stream.state {
    // A stream that nothing needs now is closed.
    case .closed: frame.state.network.onlineState == .online && !frame.state.network.isOffline ? "IDLE" : "CLOSED"
    case .opening: "OPENING"
    case .open: "OPEN"
    case .backoff(let until): "RETRY \(TimeText.countdown(to: until, from: frame.state.now))"
    }
  }

  private func role(of stream: StreamStatus) -> Role {
    if isOver { return .textMuted }
    return switch stream.state {
    case .closed: .stateOffline
    case .opening: .stateConnecting
    case .open: .stateOnline
    case .backoff: .stateFault
    }
  }

  func fact(_ name: String, _ text: String, _ role: Role) -> Line {
    var line = row(name)
    line.add(text, role)
    return line
  }

  /// A text with a name, on as many lines as it needs but at most `most`. The last line can be truncated.
  func facts(_ name: String, _ text: String, _ role: Role, width: Int, most: Int) -> [Line] {
    let parts = WrappedText.lines(text, width: max(8, width - 9), glyphs.ellipsis)
    guard parts.count > 1, most > 1 else { return [fact(name, text, role)] }
    let rest = parts.dropFirst(most - 1).joined(separator: " ")
    return (parts.prefix(most - 1) + (rest.isEmpty ? [] : [rest])).enumerated().map { index, part in
      fact(index == 0 ? name : "", part, role)
    }
  }

  /// A line that starts with a name.
  func row(_ name: String, width: Int = 7) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    line.cell(name, .textMuted, width: width)
    return line
  }

  /// The reason why there is no connection, and the time of the next attempt.
  /// - Parameter spare: the maximum count of additional lines.
  private func reasonLines(width: Int, spare: Int) -> [Line] {
    guard frame.state.network.isNetworkEnabled, !isOver, let reason = frame.state.connectionTrouble else { return [] }
    // The countdown changes, so it precedes the text that may be cut.
    let countdown =
      frame.state.nextAttempt.map { "retry in " + TimeText.countdown(to: $0, from: frame.state.now) } ?? ""
    let text = countdown.isEmpty ? reason : "\(countdown) \(glyphs.bullet) \(reason)"
    let column = 8
    guard spare > 0, width > 2 * column else { return [reasonLine(text, countdown)] }
    let parts = WrappedText.lines(text, width: width - column, glyphs.ellipsis)
    let shown = parts.prefix(spare) + (parts.count > spare ? [parts[spare...].joined(separator: " ")] : [])
    return shown.enumerated().map { index, part in
      index == 0 ? reasonLine(part, countdown) : fact("", part, .warn)
    }
  }

  private func reasonLine(_ text: String, _ countdown: String) -> Line {
    guard !countdown.isEmpty, text.hasPrefix(countdown) else { return fact("why", text, .warn) }
    var line = fact("why", countdown, .stateFault)
    line.add(String(text.dropFirst(countdown.count)), .warn)
    return line
  }

  private var cacheLine: Line? {
    guard let count = frame.state.network.cacheByteCount else { return nil }
    if isOver { return fact("cache", glyphs.dash, .textMuted) }
    let limit = frame.state.network.cacheLimit.map { " of \(ByteText.short(Int($0)))" } ?? ", unlimited"
    let isFull = frame.state.network.cacheLimit.map { count > $0 } ?? false
    // A notice about the cache already contains its name.
    return fact(
      frame.state.storage.notice == nil ? "cache" : "size",
      ByteText.short(Int(count)) + limit + (frame.state.network.isDurable ? " on disk" : " in memory"),
      isFull ? .warn : .text)
  }

  private var reconnectLine: Line {
    let writes = frame.state.writes.waiting
    let listeners = frame.state.listeners.count { $0.failure == nil }
    let waiting = "\(writes) write\(writes == 1 ? "" : "s")"
    let text = "\(waiting) \(glyphs.bullet) \(listeners) listener\(listeners == 1 ? " resumes" : "s resume")"
    var line = Line(glyphs)
    line.skip(1)
    line.add("on reconnect: ", .textMuted)
    line.add(text)
    return line
  }

  private func outageLine(width: Int) -> Line {
    if isOver { return fact("online", glyphs.dash, .textMuted) }
    let count = frame.state.outages.recentCount(at: frame.state.now)
    let columns = min(30, width - 27)
    var line = row("online")
    if columns >= 8 {
      for part in frame.state.outages.ruler(columns: columns, at: frame.state.now) {
        switch part {
        case .unknown: line.add(glyphs.bullet, .textMuted)
        case .online: line.add(glyphs.barFull, .chartLow)
        case .outage: line.add(glyphs.barOutage, .chartOutage)
        }
      }
      line.skip(2)
    }
    let text = count == 0 ? "last 10 min" : "\(count) outage\(count == 1 ? "" : "s") in 10 min"
    line.add(text, .textMuted)
    return line
  }
}

/// The lines about the program whose client is shown.
extension NetworkPane {
  /// The lines about the program; empty if the client belongs to the dashboard.
  var attachedLines: [Line] {
    guard let program = frame.state.configuration.attached else { return [] }
    var lines: [Line] = []
    if let end = frame.state.attachment.end {
      lines.append(fact("client", "\(end): last known state", .warn))
    } else {
      let way =
        program.isScenario == true
        ? "run by a scenario" : program.allowsControl ? "watched and controlled from here" : "watched only"
      lines.append(fact("client", "of \(program.title), \(way)", .text))
    }
    if frame.state.attachment.missedSnapshots > 0 {
      let count = frame.state.attachment.missedSnapshots
      lines.append(fact("missed", "\(grouped(count)) snapshot\(count == 1 ? "" : "s"), left out", .warn))
    }
    return lines
  }
}

/// The line about the processes that share the local database.
extension NetworkPane {
  /// The line about other processes; `nil` if there are no others.
  var companyText: (text: String, role: Role)? {
    guard let peers = frame.state.storage.peers, !peers.isAlone else { return nil }
    let others = peers.others.map { "\($0.name) \($0.process)" }.joined(separator: ", ")
    switch peers.role {
    case .owner: return ("open here, shared with \(others)", .text)
    case .attached(let owner):
      let more = others.isEmpty ? "" : ", shared with \(others)"
      return ("open in \(owner.name) \(owner.process)\(more)", .text)
    case .unreachable(let reason): return (reason, .warn)
    }
  }
}

/// The line about the bytes sent to the terminal.
extension NetworkPane {
  /// The bytes and frames sent to the terminal.
  func line(of traffic: TerminalTraffic) -> Line {
    let mean = traffic.frames > 0 ? ", \(ByteText.short(traffic.bytes / traffic.frames)) each" : ""
    let frames = "\(grouped(traffic.frames)) frame\(traffic.frames == 1 ? "" : "s")"
    return fact("tty", "\(ByteText.short(traffic.bytes)) in \(frames)\(mean)", .text)
  }
}

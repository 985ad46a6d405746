// SPDX-License-Identifier: Apache-2.0
import DashboardHost
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreText
import TerminalCanvas

/// The screen of a proxy: a pure function of its state and the size.
struct TrafficView {
  typealias Pane = TrafficState.Pane

  private let state: TrafficState
  private let glyphs: Glyphs
  private let utcOffset: Int
  private let size: Size

  init(_ state: TrafficState, _ size: Size, _ glyphs: Glyphs, utcOffset: Int) {
    (self.state, self.size, self.glyphs, self.utcOffset) = (state, size, glyphs, utcOffset)
  }

  var canvas: Canvas {
    var canvas = Canvas(size: size)
    guard size.height > 0, size.width > 0 else { return canvas }
    canvas.fill(Rect(x: 0, y: 0, width: size.width, height: 1), role: .header)
    canvas.put(header, x: 0, y: 0, width: size.width)
    if state.showsHelp {
      help(on: &canvas)
    } else {
      var y = 1
      for (pane, height) in heights {
        draw(pane, on: &canvas, Rect(x: 0, y: y, width: size.width, height: height))
        y += height
      }
    }
    if size.height > 1 { footer(on: &canvas) }
    return canvas
  }

  // MARK: Layout

  /// The rows of each pane with its title: as many as it needs, the requests the rest. A pane without room is left out.
  private var heights: [(Pane, Int)] {
    var rest = max(0, size.height - 2)
    var heights: [Pane: Int] = [:]
    for pane in Pane.allCases {
      heights[pane] = min(rest, pane == state.focus || rest > 12 ? 2 : 1)
      rest -= heights[pane] ?? 0
    }
    // The focused pane is served first, then the others in their order.
    let wishes: [(Pane, Int)] = [.listeners, .writes, .clients].map { pane in
      (pane, min(state.rows(of: pane), max(1, size.height / (pane == .listeners ? 3 : 6))))
    }
    for (pane, wish) in wishes.sorted(by: { ($0.0 == state.focus ? 0 : 1) < ($1.0 == state.focus ? 0 : 1) }) {
      let more = min(rest, max(0, wish + 1 - (heights[pane] ?? 0)))
      heights[pane, default: 0] += more
      rest -= more
    }
    heights[.requests, default: 0] += rest
    return Pane.allCases.compactMap { pane in heights[pane].flatMap { $0 > 0 ? (pane, $0) : nil } }
  }

  // MARK: Lines around the panes

  private var header: Line {
    var line = Line(glyphs)
    line.add(" hearth proxy ", .header, .bold)
    if state.isUnplugged {
      line.add("\(glyphs.offline) UNPLUGGED", .headerOffline)
    } else {
      line.add("\(glyphs.online) PLUGGED IN", .header)
    }
    var others = state.settings
    others.isOffline = false
    if !others.isCalm { line.add("  FAULTS: \(others.summary)", .headerPaused) }
    if state.board.missed > 0 { line.add("  \(grouped(state.board.missed)) events missed", .headerPaused) }
    line.add("  \(state.address) \(glyphs.arrow) \(state.target)", .header)
    return line
  }

  private func footer(on canvas: inout Canvas) {
    let y = size.height - 1
    if let palette = state.palette {
      var line = Line(glyphs)
      line.add(":" + palette.text, .input)
      canvas.put(line, x: 0, y: y, width: size.width)
      canvas.cursor = Point(x: min(size.width - 1, 1 + SafeText.columns(of: palette.typed)), y: y)
      return
    }
    var line = Line(glyphs)
    if let message = state.message {
      line.add(" \(message.text)", message.isError ? .error : .info)
    } else {
      for (key, word) in Self.keys {
        line.add(" \(key)", .key)
        line.add(" \(word) ", .hint)
      }
      if let word = state.board.lastWord { line.add(" \(word)", .textMuted) }
    }
    canvas.put(line, x: 0, y: y, width: size.width)
  }

  private static let keys = [("o", "plug"), (":", "fault, calm"), ("?", "words"), ("tab", "pane"), ("q", "quit")]

  // MARK: Panes

  private func title(of pane: Pane) -> String {
    switch pane {
    case .clients: "Clients"
    case .listeners: "Listeners"
    case .writes: "Writes that wait"
    case .requests: "Requests"
    }
  }

  private func draw(_ pane: Pane, on canvas: inout Canvas, _ area: Rect) {
    let count = pane == .requests ? state.board.requestCount : state.rows(of: pane)
    canvas.horizontalLine(at: area.origin, width: area.width, glyphs: glyphs)
    let isFocused = pane == state.focus
    canvas.put(
      " \(pane.rawValue) \(title(of: pane)) ", at: Point(x: 2, y: area.y),
      role: isFocused ? .paneTitleFocus : .paneTitle, attributes: isFocused ? .bold : [])
    let number = " \(grouped(count)) "
    canvas.put(number, at: Point(x: max(0, area.maxX - 2 - number.count), y: area.y), role: .paneCount)
    let height = area.height - 1
    let rows = lines(of: pane)
    if rows.isEmpty, height > 0 {
      var line = Line(glyphs)
      line.add(" " + note(of: pane), .textMuted)
      canvas.put(line, x: 0, y: area.y + 1, width: area.width)
    }
    let top = min(state.tops[pane] ?? 0, max(0, rows.count - height))
    for (offset, row) in rows.dropFirst(top).prefix(max(0, height)).enumerated() {
      canvas.put(line(row), x: 0, y: area.y + 1 + offset, width: area.width)
    }
  }

  private func note(of pane: Pane) -> String {
    switch pane {
    case .clients where state.isUnplugged: "none: the plug is pulled"
    case .clients: "none: export FIRESTORE_EMULATOR_HOST=\(state.address)"
    case .listeners: "nobody listens"
    case .writes: "none"
    case .requests: "none has ended"
    }
  }

  /// A row by its columns, from left to right: the text, its role, and its width; the last one takes the rest.
  private typealias Row = [(text: String, role: Role, width: Int)]

  private func line(_ row: Row) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    for (text, role, width) in row {
      line.cell(text, role, width: width)
      line.skip(1)
    }
    return line
  }

  private var isWide: Bool { size.width >= 100 }

  private func lines(of pane: Pane) -> [Row] {
    switch pane {
    case .clients: state.board.clients.map(row)
    case .listeners: state.board.listeners.map(row)
    case .writes: state.board.writes.map(row)
    case .requests: state.board.requests.reversed().map(row)
    }
  }

  private func row(_ client: TrafficBoard.Client) -> Row {
    [
      ("#\(client.connection)", .accent, 6), (client.peer, .text, 22), (client.transport, .textMuted, 8),
      ("\(grouped(client.open)) open", client.open > 0 ? .text : .textMuted, 10),
      ("\(grouped(client.requests)) done", .textMuted, 14), (Self.size(client.bytes), .textMuted, 10),
      (age(client.since), .textMuted, 8),
    ]
  }

  private func row(_ listener: TrafficBoard.Listener) -> Row {
    let token = listener.tokenAt.map { "token \(age($0)) ago" } ?? (listener.isResumed ? "resumed" : "no token")
    return [
      ("#\(listener.connection)", .accent, 6), ("target \(listener.target)", .textMuted, 12),
      (listener.subject, .textStrong, max(12, size.width - (isWide ? 76 : 72))),
      (listener.state.rawValue, listener.state == .current ? .ok : .warn, 9),
      ("\(grouped(listener.documents)) sent", .text, 10), (Self.size(listener.bytes), .textMuted, 9),
      (token, .textMuted, isWide ? 18 : 14),
    ]
  }

  private func row(_ write: TrafficBoard.Write) -> Row {
    let more = write.count > write.documents.count ? " and \(grouped(write.count - write.documents.count)) more" : ""
    return [
      ("#\(write.connection)", .accent, 6), (write.method, .text, 12),
      (age(write.since), .writeInflight, 8), (write.documents.joined(separator: " ") + more, .textStrong, size.width),
    ]
  }

  private func row(_ request: TrafficBoard.Request) -> Row {
    let time = request.milliseconds.map { "\(Self.rounded($0)) ms" } ?? ""
    return [
      (request.time.timeOfDay(utcOffset: utcOffset), .textMuted, 12), ("#\(request.connection)", .accent, 5),
      (request.method, .text, isWide ? 20 : 13), (request.code, request.isFailure ? .error : .ok, isWide ? 19 : 14),
      (time, .textMuted, 10),
      (request.subject, .textStrong, isWide ? max(20, size.width - 110) : 18),
      (request.remark, request.isFailure ? .warn : .textMuted, size.width),
    ]
  }

  private static func rounded(_ milliseconds: Double) -> String {
    milliseconds < 100 ? "\((milliseconds * 10).rounded() / 10)" : "\(Int(min(milliseconds, 1e15).rounded()))"
  }

  private static func size(_ bytes: Int) -> String {
    if bytes < 1_000 { return "\(bytes) B" }
    return bytes < 1_000_000 ? "\((bytes + 500) / 1_000) kB" : "\((bytes + 500_000) / 1_000_000) MB"
  }

  private func age(_ time: Timestamp) -> String {
    let seconds = state.now.wholeSeconds(since: time)
    if seconds < 60 { return "\(seconds) s" }
    return seconds < 3_600 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
  }

  // MARK: Help

  private func help(on canvas: inout Canvas) {
    let keys = [
      ("o", "pull the plug between proxy and server, or put it back"),
      (":", "a fault by its words, such as :latency 200ms"),
      ("tab 1 2 3 4", "another pane"), ("j k g G", "move in it"), ("q", "end the proxy"),
    ]
    let words = FaultText.forms.map { (":\($0.word)", $0.rest) } + [(":faults", "which are on"), (":quit", "")]
    let all =
      keys + [("", "")] + words + [("", ""), ("for clients", "export FIRESTORE_EMULATOR_HOST=\(state.address)")]
    for (row, (key, text)) in all.enumerated().prefix(max(0, size.height - 2)) {
      var line = Line(glyphs)
      line.skip(1)
      line.cell(key, .key, width: 14)
      line.skip(1)
      line.add(text, .text)
      canvas.put(line, x: 0, y: row + 1, width: size.width)
    }
  }
}

extension TextField {
  /// The text in front of the cursor.
  fileprivate var typed: String { String(characters[..<position]) }
}

// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import Dashboard
import DashboardModel
import DashboardView
import FirestoreClientState
import FirestoreModel
import Foundation
import Terminal
import TerminalCanvas
import TerminalTheme

/// Writes a picture of the screen, or a recording (cast) of its last seconds, to a file.
struct Shot {
  enum Format: String, CaseIterable {
    case svg, ansi, txt, cast

    /// The file format that a file name's extension selects.
    init?(ofFile path: String) {
      guard let end = path.split(separator: ".").last, path.contains(".") else { return nil }
      self.init(rawValue: end.lowercased())
    }
  }

  /// The length of a recording in seconds.
  static let span = 30
  /// The interval at which the screen is sampled, in seconds.
  private static let step = 0.25

  let theme: Theme
  let depth: ColorDepth
  let caption: String

  func text(of canvas: Canvas, as format: Format) -> String {
    switch format {
    case .svg: canvas.svg(in: theme, title: caption)
    case .ansi, .cast: canvas.ansiText(in: theme, at: depth)
    case .txt: canvas.plainText
    }
  }

  /// The last seconds of a session as an asciicast, version 2.
  func cast(of part: SessionPart, until now: Timestamp) throws -> String {
    let start = now.advanced(seconds: -Int64(Self.span))
    let screens = part.screens(from: start, to: now, step: Self.step)
    var items: [Cast.Item] = []
    var size: Size?
    for screen in screens {
      if let size, size != screen.canvas.size {
        items.append(.resize(seconds: screen.seconds, screen.canvas.size))
      } else if size == nil {
        items.append(.header(screen.canvas.size, Date(timeIntervalSince1970: Double(start.seconds))))
      }
      size = screen.canvas.size
      items.append(.frame(seconds: screen.seconds, Array(frame(screen.canvas).utf8)))
    }
    // The last screen is shown until the end.
    if let last = screens.last, last.seconds < Double(Self.span) {
      items.append(.frame(seconds: Double(Self.span), []))
    }
    return items.map { String(decoding: $0.line, as: UTF8.self) }.joined()
  }

  /// The control sequences that draw a whole screen. They hide the cursor, move it to the top left corner, and draw
  /// each row completely.
  private func frame(_ canvas: Canvas) -> String {
    let rows = canvas.ansiText(in: theme, at: depth).split(separator: "\n", omittingEmptySubsequences: true)
    return "\u{1B}[?25l\u{1B}[H" + rows.joined(separator: "\r\n")
  }
}

/// Writing pictures and recordings of the screen.
extension Session {
  /// Writes the screen, or its last seconds, to a new file that only the user may read.
  /// - Parameter fields: the fields whose values are omitted, separated by commas, or `all`; `nil` for none.
  func takeShot(_ file: String, without fields: String?) throws(CommandFailure) {
    let path = Self.expanded(file)
    guard let format = Shot.Format(ofFile: path) else {
      let ends = Shot.Format.allCases.map { ".\($0.rawValue)" }.joined(separator: ", ")
      throw CommandFailure(.usage, "\(file): the extension selects the format. Use one of \(ends).")
    }
    try Self.requireNew(path)
    let theme: Theme
    do { theme = try preferences.catalog.theme(named: state.screen.theme).theme } catch {
      throw CommandFailure(.configuration, options.paths.short("\(error)"))
    }
    let backend = state.configuration.backend
    let clock = TimeText.clock(state.past?.time ?? state.now, offset: state.configuration.utcOffset)
    let hidden = fields.map { " without \($0)" } ?? ""
    let shot = Shot(theme: theme, depth: screen.depth, caption: "hearth: \(backend.project), \(clock)\(hidden)")
    let redacted = try fields.map { (fields) throws(CommandFailure) in try part(without: fields) }
    let text: String
    if format == .cast {
      let part = redacted ?? dashboard.part(since: dashboard.live.now.advanced(seconds: -Int64(Shot.span)))
      do { text = try shot.cast(of: part, until: dashboard.live.now) } catch {
        throw CommandFailure(.software, "\(file): the cast cannot be encoded: \(error)")
      }
    } else {
      text = shot.text(of: redacted.map { view($0.end) } ?? view(shownClients), as: format)
    }
    try TextFile.write(text, to: path, mode: 0o600)
    // A cast and redacted values come from one client. A picture shows the whole screen.
    let whose = clientSet.isShared && (format == .cast || fields != nil) ? " of \(clientSet.focused.name)" : ""
    notify(.info, "\(file) has \(format == .cast ? "the last \(Shot.span) seconds" : "the screen")\(whose)\(hidden).")
  }

  /// The session from its start, in which the values of some fields are removed.
  private func part(without fields: String) throws(CommandFailure) -> SessionPart {
    guard options.replay == nil, state.past == nil else {
      throw CommandFailure(
        .usage, "Values can be removed only from the current state. Press esc, or use 'hearth redact' on a file.")
    }
    guard let all = dashboard.log.all else {
      throw CommandFailure(
        .failure, "The session is too long to remove values: its start was discarded. Nothing was written.")
    }
    let redaction = Redaction(fields)
    let header = RecordingHeader(start: all.base.now, size: all.base.size, configuration: all.base.configuration)
    let redactor = RecordingRedactor(redaction, header)
    let actions = all.actions.flatMap(redactor.redacted)
    try redaction.account.check(redaction.names)
    return SessionPart(from: redactor.header.initialState, actions)
  }
}

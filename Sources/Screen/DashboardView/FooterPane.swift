// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// Draws the last row of the screen.
struct FooterPane {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = layout.footer else { return }
    if case .filter(let line)? = frame.state.overlay {
      FilterPrompt(line: line, frame: frame, glyphs: glyphs).draw(on: &canvas, area)
      return
    }
    let footer = Footer(frame.state, width: area.width)
    for hint in footer.hints {
      let isDisabled = frame.state.overlay == nil && hint.command.reason(frame.state) != nil
      let used = canvas.put(
        hint.key, at: Point(x: hint.x, y: area.y), role: isDisabled ? .textMuted : .key, maxWidth: area.width - hint.x)
      canvas.put(
        hint.word, at: Point(x: hint.x + used + 1, y: area.y), role: isDisabled ? .textMuted : .hint,
        maxWidth: area.width - hint.x - used - 1)
    }
    if !frame.state.screen.caption.isEmpty {
      let room = max(0, area.width - footer.badges.width - 2)
      let text = SafeText.truncated(SafeText.sanitized(frame.state.screen.caption), to: room, ellipsis: glyphs.ellipsis)
      canvas.put(" \(text)", at: area.origin, role: .toast, maxWidth: room + 1)
    }
    canvas.put(footer.badges, x: area.width - footer.badges.width, y: area.y, width: footer.badges.width)
  }
}

/// Draws the filter line in the footer, with its match count or its error.
struct FilterPrompt {
  let line: FilterLine
  let frame: FrameState
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas, _ area: Rect) {
    let isNarrow = area.width < 60
    let prefix = isNarrow ? "/ " : " filter \(line.pane.title) / "
    var x = area.x + canvas.put(prefix, at: area.origin, role: .key, maxWidth: area.width)
    let note = SafeText.truncated(" \(self.note) ", to: max(0, area.width - x - 10), ellipsis: glyphs.ellipsis)
    let noteWidth = SafeText.columns(of: note)
    canvas.put(
      note, at: Point(x: area.maxX - noteWidth, y: area.y), role: line.error == nil ? .textMuted : .inputInvalid)
    x = min(x, area.maxX - 1)
    canvas.put(
      line.field, x: x, y: area.y, width: area.maxX - noteWidth - x, role: line.error == nil ? .input : .inputInvalid)
  }

  /// The count of documents that are searched while you type, and the count that `enter` would search.
  private var collectionNote: String {
    let enter = Command.text(of: Key(.enter), glyphs)
    let isWide = frame.state.size.width >= 72
    guard let path = line.path, let window = frame.state.browser.windows[path], window.shown != nil else {
      return "nothing is loaded\(isWide ? ", \(enter) searches" : "")"
    }
    let (shown, loaded) = (window.documents.count, window.loaded.count)
    let isWhole = window.isWhole
    let counts = "\(grouped(shown)) of \(grouped(loaded))\(isWhole ? "" : " loaded")"
    guard isWide, !isWhole else { return counts }
    // The reads are announced before they happen.
    let filter = (try? RowFilter(line.field.text, in: frame.state.configuration.database)).flatMap { BrowserFilter($0) }
    guard let filter, filter.searches else {
      let order = filter?.range.map { ", by \($0.canonicalText)" } ?? ""
      return "\(counts), \(enter) requests all\(order)"
    }
    if frame.state.network.isOffline { return "\(counts), \(enter) reads the cache" }
    let isAsked = !filter.filters.isEmpty || !filter.prefix.isEmpty
    let extent = window.total.map { isAsked ? "up to \(grouped($0))" : "all \(grouped($0))" } ?? "all"
    return "\(counts), \(enter) reads \(extent)"
  }

  private var note: String {
    if let error = line.error { return error }
    if line.pane == .writes {
      return "\(grouped(frame.state.writes.rows.count)) of \(grouped(frame.state.writes.allRows.count)) writes"
    }
    if line.pane == .detail {
      let found = frame.state.matchCount
      return frame.state.detail?.search.isEmpty != false
        ? "\(found.all) lines" : "\(found.matching) of \(found.all) lines"
    }
    if line.pane == .feed, frame.state.showsRequests {
      return "\(grouped(frame.state.requests.shown.count)) of \(grouped(frame.state.requests.all?.count ?? 0)) requests"
    }
    if line.pane == .feed {
      return "\(grouped(frame.state.feed.visible.count)) of \(grouped(frame.state.feed.rows.count)) rows"
        + (frame.state.size.width >= 100 ? "   word !word field:>5 /re/" : "")
    }
    return collectionNote
  }
}

/// Draws the current step of the guide for first-time users, instead of the footer's keys. A caption takes precedence,
/// because it is for an audience.
struct CoachLine {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let coach = frame.state.coach, frame.state.overlay == nil, frame.state.toasts.isEmpty,
      frame.state.screen.caption.isEmpty,
      let footer = layout.footer
    else { return }
    let badges = Footer(frame.state, width: footer.width).badges.width
    let room = footer.width - (badges == 0 ? 0 : badges + 1)
    let (short, rest) = coach.text { name in
      let contexts: [KeyContext] = [.screen, .pane(.collections)]
      return frame.state.configuration.keymap.command(named: name, in: contexts)?.keyText(glyphs, limit: 1) ?? name
    }
    let help = frame.state.configuration.keymap.command(named: "help", in: [.screen])?.keyText(glyphs, limit: 1) ?? "?"
    let leave = coach.isAsked ? "esc again: no coach" : "esc: no coach"
    let ends = ["   \(leave)   \(help) help ", "   \(help) help "]
    let texts = ends.map { " " + short + rest + $0 } + ends.map { " " + short + $0 }
    let text = texts.first { SafeText.columns(of: $0) <= room } ?? " " + short
    canvas.fill(Rect(x: 0, y: footer.y, width: room, height: 1))
    canvas.put(text, at: Point(x: 0, y: footer.y), role: .toast, maxWidth: room)
  }
}

/// Draws the newest message, which temporarily replaces the footer's keys. It never covers the rows that it describes.
/// If the message is truncated, it says where the full text is.
struct ToastLine {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = frame.state.toastArea(layout), let toast = frame.state.toasts.last else { return }
    let (word, role): (String, Role) =
      switch toast.kind {
      case .info: ("", .toast)
      case .warning: ("! ", .warn)
      case .error: ("ERROR ", .toastError)
      }
    let others = frame.state.toasts.count > 1 ? " (+\(frame.state.toasts.count - 1))" : ""
    var text = " \(word)\(toast.text)\(others) "
    if SafeText.columns(of: text) > area.width {
      let rest = "\(others) :messages "
      let room = max(0, area.width - SafeText.columns(of: rest))
      text = SafeText.truncated(" \(word)\(toast.text)", to: room, ellipsis: glyphs.ellipsis) + rest
    }
    canvas.fill(area)
    canvas.put(text, at: area.origin, role: role, maxWidth: area.width)
  }
}

/// Draws the last pressed keys above the footer at the right, while keys are shown to an audience.
struct PressedKeysLine {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let presses = frame.state.typing.pressed?.presses, !presses.isEmpty, let footer = layout.footer, footer.y > 0
    else {
      return
    }
    let times = glyphs.conflict
    let words = presses.map { press in
      Command.text(of: press.key, glyphs) + (press.count > 1 ? " \(times)\(press.count)" : "")
    }
    // The newest keys stay if there is no room for all.
    let texts = words.indices.map { " " + words[$0...].joined(separator: "  ") + " " }
    guard let text = texts.first(where: { SafeText.columns(of: $0) <= footer.width }) else { return }
    let x = footer.width - SafeText.columns(of: text)
    canvas.put(text, at: Point(x: x, y: footer.y - 1), role: .paneTitleFocus, maxWidth: footer.width - x)
  }
}

// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// The last row.
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

/// The `/` line in the footer, with its number of matches or its error.
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

  /// The number of documents searched while typing, and those that `enter` would search.
  private var collectionNote: String {
    let enter = Command.text(of: Key(.enter), glyphs)
    let isWide = frame.state.size.width >= 72
    guard let path = line.path, let window = frame.state.browser.windows[path], window.shown != nil else {
      return "nothing is loaded\(isWide ? ", \(enter) looks" : "")"
    }
    let (shown, loaded) = (window.documents.count, window.loaded.count)
    let isWhole = window.isWhole
    let counts = "\(grouped(shown)) of \(grouped(loaded))\(isWhole ? "" : " loaded")"
    guard isWide, !isWhole else { return counts }
    // The documents to be read are announced before they are read.
    let filter = (try? RowFilter(line.field.text, in: frame.state.configuration.database)).flatMap { BrowserFilter($0) }
    guard let filter, filter.searches else {
      let order = filter?.range.map { ", by \($0.canonicalText)" } ?? ""
      return "\(counts), \(enter) asks for all\(order)"
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

// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import TerminalCanvas

/// The single list of the signs on the screen and their meanings. The help and the page of an empty database show it.
package struct SignLegend {
  package struct Entry {
    /// The sign as it appears on the screen, with an example of the text that follows it.
    package var sign: String
    var role: Role
    package var text: String

    fileprivate var isBadge: Bool { sign.hasPrefix("[") }
  }

  package let entries: [Entry]

  package enum Part {
    /// The signs of documents, writes and listeners.
    case data
    /// All signs, including those that describe the screen instead of data.
    case signs
    /// All signs and the badges.
    case all
  }

  /// The count of the entries of `Part.data`.
  private static let dataEntries = 16

  package init(_ glyphs: Glyphs, _ part: Part = .all) {
    let all = [
      Entry(sign: "+", role: .changeAdded, text: "came in: document or result"),
      Entry(sign: "~", role: .changeModified, text: "fields changed: old\(glyphs.arrow)new"),
      Entry(sign: "-", role: .changeRemoved, text: "deleted, or left the result"),
      Entry(sign: "=", role: .changeSynced, text: "in sync, or from the cache"),
      Entry(sign: "!", role: .error, text: "rejected; a listener ended"),
      Entry(sign: glyphs.conflict, role: .error, text: "conflict: replaced unseen"),
      Entry(sign: "\(glyphs.pending)3", role: .flagPending, text: "three pending writes"),
      Entry(sign: "#42", role: .textMuted, text: "the number of a write"),
      Entry(sign: glyphs.listening, role: .stateOnline, text: "listening; \(glyphs.listening)2: twice"),
      Entry(sign: glyphs.listeningInPart, role: .stateOnline, text: "listening to a part"),
      Entry(sign: glyphs.listeningFromCache, role: .flagCache, text: "listening, cached data only"),
      Entry(sign: "L", role: .sourceLocal, text: "LOCAL: made here, pending"),
      Entry(sign: "S", role: .sourceServer, text: "SERVER: its version"),
      Entry(sign: "c p", role: .flagCache, text: "cached; with pending writes"),
      Entry(sign: glyphs.online, role: .stateOnline, text: "ONLINE: the server answers"),
      Entry(sign: glyphs.offline, role: .stateOffline, text: "offline, or not connected"),
      Entry(sign: "\(glyphs.folded)\(glyphs.unfolded)", role: .textMuted, text: "folded, unfolded"),
      Entry(sign: "\(glyphs.ascending)\(glyphs.descending)", role: .textMuted, text: "the order of the rows"),
      Entry(sign: glyphs.cursor, role: .cursorGutter, text: "the selected row"),
      Entry(sign: glyphs.related, role: .flagPending, text: "about the selected document"),
      Entry(sign: glyphs.barOutage, role: .stateOffline, text: "a second offline"),
      Entry(sign: glyphs.dashedHorizontal, role: .border, text: "limit of a result, outage"),
      Entry(sign: "<0:10", role: .textMuted, text: "age of a count, not live"),
      Entry(sign: "{2} [3]", role: .textMuted, text: "map of 2 fields, array of 3"),
      Entry(sign: glyphs.bullet, role: .textMuted, text: "no flag; also between words"),
      Entry(sign: glyphs.ellipsis, role: .textMuted, text: "more than fits; loading"),
      Entry(sign: "\(glyphs.follow) \(glyphs.paused)", role: .textMuted, text: "the feed follows; is paused"),
      Entry(sign: "\(glyphs.check) \(glyphs.cross)", role: .textMuted, text: "met; not met, or ended"),
      Entry(sign: glyphs.enter, role: .key, text: "the enter key"),
      Entry(sign: "[OFFLINE]", role: .headerOffline, text: "offline, and how long"),
      Entry(sign: "[CACHE]", role: .flagCache, text: "a listener has cached data"),
      Entry(sign: "[FAULTS]", role: .stateFault, text: "faults are on or armed"),
      Entry(sign: "[PAUSED]", role: .headerPaused, text: "the feed is paused"),
      Entry(sign: "[FILTER]", role: .warn, text: "the feed is filtered"),
      Entry(sign: "[RANGE]", role: .headerPaused, text: "several rows are selected"),
      Entry(sign: "[ZOOM]", role: .hint, text: "one pane fills the screen"),
      Entry(sign: "[IMPORT]", role: .headerPaused, text: "runs; also [EXPORT]"),
      Entry(sign: "[SLOW LINK]", role: .warn, text: "drawn less often"),
      Entry(sign: "[READ-ONLY]", role: .headerPaused, text: "no key changes data"),
      Entry(sign: "[ENDED]", role: .headerOffline, text: "the watched program ended"),
    ]
    entries =
      switch part {
      case .data: Array(all.prefix(Self.dataEntries))
      case .signs: all.filter { !$0.isBadge }
      case .all: all
      }
  }

  /// Draws the entries in as many columns as fit. If not all entries fit, draws the page that contains the selected
  /// entry.
  /// - Parameter selected: the index of the entry with the cursor; `nil` for none.
  /// - Returns: the row below the entries.
  @discardableResult package func draw(
    in area: Rect, columnWidth: Int, selected: Int? = nil, on canvas: inout Canvas, _ glyphs: Glyphs
  ) -> Int {
    let columns = max(1, area.width / columnWidth)
    let rows = min(area.height, rows(columns: columns))
    guard rows > 0 else { return area.y }
    let width = area.width / columns
    let first = (selected ?? 0) / (rows * columns) * rows * columns
    for (offset, entry) in entries[first...].prefix(rows * columns).enumerated() {
      let point = Point(x: area.x + offset / rows * width, y: area.y + offset % rows)
      var line = Line(glyphs)
      line.cell(entry.sign, entry.role, width: max(8, SafeText.columns(of: entry.sign) + 1))
      line.add(SafeText.truncated(entry.text, to: width - line.width - 1, ellipsis: glyphs.ellipsis), .textMuted)
      canvas.put(line, x: point.x, y: point.y, width: width)
      guard first + offset == selected else { continue }
      canvas.put(glyphs.cursor, at: Point(x: max(0, point.x - 1), y: point.y), role: .cursorGutter, maxWidth: 1)
    }
    return area.y + rows
  }

  package func rows(columns: Int) -> Int { (entries.count + columns - 1) / columns }
}

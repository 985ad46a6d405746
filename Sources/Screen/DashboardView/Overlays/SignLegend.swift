// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The one list of the signs on the screen and their meanings, for the help and for the page of an empty database.
struct SignLegend {
  struct Entry {
    /// The sign as on the screen, with an example of the text that follows it.
    var sign: String
    var role: Role
    var text: String
  }

  let entries: [Entry]

  /// The count of the entries about documents, writes and listeners. The others are about the screen itself.
  private static let dataEntries = 16

  /// - Parameter isShort: whether only the entries about documents, writes and listeners are wanted.
  init(_ glyphs: Glyphs, isShort: Bool = false) {
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
      Entry(sign: "\(glyphs.folded)\(glyphs.unfolded)", role: .accent, text: "folded, unfolded"),
      Entry(sign: "\(glyphs.ascending)\(glyphs.descending)", role: .textMuted, text: "the order of the rows"),
      Entry(sign: glyphs.cursor, role: .cursorGutter, text: "the selected row"),
      Entry(sign: glyphs.related, role: .flagPending, text: "about the selected document"),
      Entry(sign: glyphs.barOutage, role: .stateOffline, text: "a second offline"),
      Entry(sign: glyphs.dashedHorizontal, role: .border, text: "limit of a result, outage"),
      Entry(sign: "<0:10", role: .textMuted, text: "age of a count, not live"),
      Entry(sign: "{2} [3]", role: .textMuted, text: "map of 2 fields, array of 3"),
      Entry(sign: glyphs.bullet, role: .textMuted, text: "no flag; also between words"),
      Entry(sign: glyphs.ellipsis, role: .textMuted, text: "more than fits; loading"),
    ]
    entries = isShort ? Array(all.prefix(Self.dataEntries)) : all
  }

  /// Draws the entries in as many columns as fit, up to the height of the area.
  /// - Returns: the row below.
  @discardableResult func draw(in area: Rect, columnWidth: Int, on canvas: inout Canvas, _ glyphs: Glyphs) -> Int {
    let columns = max(1, area.width / columnWidth)
    let rows = min(area.height, rows(columns: columns))
    guard rows > 0 else { return area.y }
    let width = area.width / columns
    for (index, entry) in entries.enumerated() where index / rows < columns {
      var line = Line(glyphs)
      line.cell(entry.sign, entry.role, width: 8)
      line.add(SafeText.truncated(entry.text, to: width - 9, ellipsis: glyphs.ellipsis), .textMuted)
      canvas.put(line, x: area.x + index / rows * width, y: area.y + index % rows, width: width)
    }
    return area.y + rows
  }

  func rows(columns: Int) -> Int { (entries.count + columns - 1) / columns }
}

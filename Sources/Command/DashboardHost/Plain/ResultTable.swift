// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import DashboardModel
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import TerminalCanvas

/// The result of a watched query as a table. It is redrawn after each snapshot. Marks show the last changes, and a line
/// shows the limit.
struct ResultTable {
  private let query: Query
  private var kept: CachedResult
  private var view: ResultView
  private var statistics = FieldStatistics()
  private var isFromCache = true
  private let utcOffset: Int
  private static let tag = ListenerTag(1)
  private static let glyphs = Glyphs.unicode

  /// - Parameter utcOffset: the time zone in seconds east of UTC.
  init(_ query: Query, utcOffset: Int) {
    self.query = query
    self.utcOffset = utcOffset
    kept = CachedResult(query)
    view = ResultView(.listener(Self.tag), query)
  }

  mutating func take(_ snapshot: ViewSnapshot, at now: Timestamp) {
    let told = ListenerSnapshot(snapshot, for: Self.tag)
    let earlier = kept
    kept.apply(told, isTold: true)
    isFromCache = snapshot.isFromCache
    for document in kept.documents.prefix(Self.sampled) { statistics.note(document) }
    view.note(
      told, from: earlier, to: kept, ResultWords(FieldInterest(statistics, picked: nil), Self.glyphs), at: now)
    view.settleColumns(kept.documents, statistics)
  }

  private static let sampled = 200
  /// The number of lines that are not documents: the query, the column names, the limit, and the line with the cursor.
  private static let others = 4

  /// The lines of the table for a terminal of this size.
  func lines(_ size: TerminalSize, at now: Timestamp) -> [ShownText] {
    let count = kept.documents.count
    let rows = max(1, min(count, size.rows - Self.others))
    let places = max(2, "\(count)".count)
    let fitting = view.columns.fitting(room: size.columns - 2 - places - 2)
    var lines = [title(at: now), heads(places, fitting)]
    for (index, document) in kept.documents.prefix(rows).enumerated() {
      lines.append(row(document, index + 1, places, fitting))
    }
    if count > rows { lines.append("  \(grouped(count - rows)) more") }
    if let edge { lines.append(edge) }
    // Each part is already escaped.
    return lines.map { ShownText(verbatim: SafeText.truncated($0.text, to: size.columns - 1)) }
  }

  private func title(at now: Timestamp) -> ShownText {
    let count = kept.documents.count
    let isFull = query.limit.map { count >= $0 } ?? false
    let number = isFull ? "first \(grouped(count))" : "\(grouped(count)) doc\(count == 1 ? "" : "s")"
    let clock = TimeText.clock(now, offset: utcOffset)
    return "\(QueryText.line(query))  \(isFromCache ? "◌ cache" : "◉ live") · \(number) · \(clock)"
  }

  private func heads(_ places: Int, _ fitting: (idWidth: Int, columns: [ResultColumns.Column])) -> ShownText {
    var text = "  " + padded("#", places, isRight: true) + "  " + padded("id", fitting.idWidth, isRight: false)
    for column in fitting.columns {
      let sign = column.direction.map { $0 == .ascending ? "▲" : "▼" } ?? ""
      text += "  " + padded(column.name + sign, column.width, isRight: column.isNumber)
    }
    return ShownText(text)
  }

  private func row(
    _ document: Document, _ place: Int, _ places: Int, _ fitting: (idWidth: Int, columns: [ResultColumns.Column])
  ) -> ShownText {
    let mark = view.marks[document.key]
    let name = query.collectionGroup == nil ? document.key.documentID : document.key.path.text
    var text = (mark.map { $0.isNew ? "+" : "~" } ?? " ") + " " + padded("\(place)", places, isRight: true) + "  "
    text += padded(PathText.fitted(name, to: fitting.idWidth, "…"), fitting.idWidth, isRight: false)
    for column in fitting.columns {
      let value = document.data?[column.path].map(ColumnText.text) ?? ""
      text += "  " + padded(value, column.width, isRight: column.isNumber)
    }
    if let mark { text += "  " + mark.text }
    if document.hasPendingWrites { text += "  (pending)" }
    return ShownText(text)
  }

  private var edge: ShownText? {
    var words: [String] = []
    if let limit = query.limit, kept.documents.count >= limit { words.append("limit \(grouped(limit))") }
    if let left = view.departure {
      let more = view.otherDepartures > 0 ? " and \(grouped(view.otherDepartures)) more" : ""
      let clock = TimeText.clock(left.time, offset: utcOffset)
      words.append("left \(left.key.documentID)\(more): \(left.reason) · \(clock)")
    }
    return words.isEmpty ? nil : "╌╌ \(words.joined(separator: " ╌╌ ")) ╌╌"
  }

  private func padded(_ text: String, _ width: Int, isRight: Bool) -> String {
    let shown = SafeText.truncated(SafeText.sanitized(text), to: width)
    let space = String(repeating: " ", count: max(0, width - SafeText.columns(of: shown)))
    return isRight ? space + shown : shown + space
  }
}

// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
import FirestoreClientState
import FirestoreJSON
package import FirestoreModel
import TerminalCanvas

/// The traces of one write in all panes: its local change, the server's response, and the listeners that it fired.
extension DashboardState {
  /// The write that is highlighted in all panes. This is the selected write in the queue, or the write that caused the
  /// selected row of a paused feed.
  package var threadBatch: BatchID? {
    switch focus {
    case .writes: writes.selected?.batch
    case .feed: feed.isPaused ? selectedEvent?.thread : nil
    case .collections, .network, .detail: nil
    }
  }

  /// The documents of the highlighted write.
  package var threadDocuments: Set<DocumentKey> {
    guard let batch = threadBatch else { return [] }
    return Set(writes.documents(of: batch) ?? feed.rows.compactMap { $0.thread == batch ? $0.key : nil })
  }

  /// The history of a write in sentences: when it was made, shown by listeners, sent, and acknowledged or rejected.
  func way(of row: QueueRow) -> [String] {
    func clock(_ time: Timestamp) -> String {
      TimeText.milliseconds(time, offset: configuration.utcOffset, from: .hours)
    }
    var words = ["made \(clock(row.write.localWriteTime))"]
    let rows = feed.rows.filter { $0.batch == row.batch && $0.listener != nil }
    if let first = rows.first {
      var names: [String] = []
      for row in rows where !names.contains(row.listenerName) { names.append(row.listenerName) }
      words.append("echo \(clock(first.time)) in \(names.joined(separator: ", "))")
    }
    if let (at, after) = outages.answer(to: row.batch) {
      words.append("sent \(clock(Timestamp(microseconds: at.microseconds &- after.wholeMicroseconds)))")
      let age = writes.answers[row.batch]?.wholeAge.map { ", \(TimeText.span($0)) after it was made" } ?? ""
      words.append("acknowledged \(clock(at)), in \(TimeText.latency(after))\(age)")
    } else {
      if row.write.attempts > 0 { words.append("sent \(row.write.attempts) time\(row.write.attempts == 1 ? "" : "s")") }
      if let time = row.rejectedAt { words.append("\(row.isSetAside ? "set aside" : "rejected") \(clock(time))") }
    }
    // The useful part comes first. If the line omits a part, the full text follows.
    let error = row.error.map { $0.lineText == $0.description ? [$0.lineText] : [$0.lineText, $0.description] } ?? []
    return [words.joined(separator: " \(configuration.glyphs.bullet) ")] + error
  }

  /// The timeline of a write with one lane for each participant; `nil` if its history was not observed.
  package func lanes(of batch: BatchID) -> WriteLanes? {
    guard let journey = writes.journey(of: batch) else { return nil }
    func sights(_ isWanted: (FeedRow) -> Bool) -> [WriteLanes.Sight] {
      var seen: Set<ListenerTag> = []
      return feed.rows.filter { row in
        guard isWanted(row), let listener = row.listener else { return false }
        return seen.insert(listener).inserted
      }.map { WriteLanes.Sight($0.listenerName, at: $0.time) }
    }
    return WriteLanes(
      journey, echoes: sights { $0.batch == batch }, outages: outages.all,
      results: sights { $0.acknowledges == batch }, now: now)
  }

  /// Shows the effect of a write and its history so far.
  mutating func openWrite(_ row: QueueRow) {
    var account = Decision(row, way: way(of: row), now: { self.document($0) })
    if row.isRejected, !configuration.isReadOnly, configuration.attached == nil, past == nil {
      let text = WriteJSON.text(of: row.write.mutations, relativeTo: configuration.database)
      account.items += [
        MenuItem(
          letter: "e", title: "edit and send again", detail: "in $EDITOR",
          choice: .perform([.terminal(.edit(EditRequest(.rejectedWrite(row.batch), text: text)))])),
        MenuItem(
          letter: "s", title: "send again", detail: "unchanged", choice: .perform([.client(.resend(row.batch))])),
        MenuItem(
          letter: "x", title: "drop", detail: "a dropped write cannot be sent again",
          choice: .perform([.client(.dropRejected([row.batch]))])),
      ]
    }
    overlay = .list(ListOverlay(content: .decision(account)))
  }

  /// The history of the write that caused the selected row of the feed.
  private var feedJourney: WriteJourney? { feed.selected?.thread.flatMap { writes.journey(of: $0) } }

  var reasonAgainstWay: String? { feedJourney == nil ? "the selected row has no write with a known history" : nil }

  /// Shows the history of the write that caused the selected row of the feed.
  mutating func openFeedWrite() { feedJourney.map { openWrite($0.row) } }
}

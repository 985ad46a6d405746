// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// The way of one write through the panes: its echo, its answer, and the listeners that it fired.
extension DashboardState {
  /// The write whose traces are lit up: the one selected in the queue, or behind the selected row of a held feed.
  var threadBatch: BatchID? {
    switch focus {
    case .writes: writes.selected?.batch
    case .feed: feed.isPaused ? feed.selected?.thread : nil
    case .collections, .network, .detail: nil
    }
  }

  /// The documents of that write.
  var threadDocuments: Set<DocumentKey> {
    guard let batch = threadBatch else { return [] }
    return Set(writes.documents(of: batch) ?? feed.rows.compactMap { $0.thread == batch ? $0.key : nil })
  }

  /// The way of a write in sentences: made, shown by listeners, sent, answered.
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
      words.append("acknowledged \(clock(at)), in \(TimeText.latency(after))")
    } else {
      if row.write.attempts > 0 { words.append("sent \(row.write.attempts) time\(row.write.attempts == 1 ? "" : "s")") }
      if let time = row.rejectedAt { words.append("rejected \(clock(time))") }
    }
    return [words.joined(separator: " \(configuration.glyphs.bullet) ")] + [row.error?.description].compactMap(\.self)
  }
}

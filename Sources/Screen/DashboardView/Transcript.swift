// SPDX-License-Identifier: Apache-2.0
package import Dashboard
import DashboardModel
import FirestoreModel

/// The events of a dashboard as lines of text for screen readers, pipes and logs. They cover the feed, the connection,
/// the queue and every message. Words replace positions, glyphs and colors.
package struct Transcript: Sendable {
  private var lastRow = 0
  private var messages: [Toast] = []
  private var status = ""

  package init() {}

  /// Returns the lines since the last call, oldest first. Must be called after every action.
  package mutating func news(of state: DashboardState) -> [String] {
    var lines: [String] = []
    let present = Self.status(of: state)
    if present != status {
      status = present
      lines.append(Self.line(state.now, present, state))
    }
    for row in state.feed.rows.reversed().prefix(while: { $0.id > lastRow }).reversed() {
      lines.append(Self.line(row.time, Self.words(row), state))
    }
    lastRow = state.feed.rows.last?.id ?? lastRow
    for message in newMessages(state.messages) {
      let kind =
        switch message.kind {
        case .info: "note"
        case .warning: "warning"
        case .error: "error"
        }
      lines.append(Self.line(message.shownAt, "\(kind): \(message.text)", state))
    }
    messages = state.messages
    return lines
  }

  /// The new messages. The list drops its oldest messages. Therefore the new messages are those that follow the longest
  /// sequence that was already reported.
  private func newMessages(_ present: [Toast]) -> ArraySlice<Toast> {
    let known = (0...present.count).first { present.dropLast($0).elementsEqual(messages.suffix(present.count - $0)) }
    return present.suffix(known ?? present.count)
  }

  private static func line(_ time: Timestamp, _ text: String, _ state: DashboardState) -> String {
    TimeText.milliseconds(time, offset: state.configuration.utcOffset, from: .hours) + " " + text
  }

  private static func status(of state: DashboardState) -> String {
    let word = VitalSigns(frame: FrameState(state), glyphs: state.configuration.glyphs).word.lowercased()
    var parts = ["status: \(word)"]
    let (waiting, rejected) = (state.writes.waiting, state.writes.refusedCount)
    if waiting > 0 { parts.append("\(waiting) write\(waiting == 1 ? "" : "s") pending") }
    if rejected > 0 { parts.append("\(rejected) rejected") }
    let aside = state.writes.setAsideCount
    if aside > 0 { parts.append("\(aside) set aside") }
    return parts.joined(separator: ", ")
  }

  private static func words(_ row: FeedRow) -> String {
    if row.kind == .divider { return row.summary }
    let kind =
      switch row.kind {
      case .added: "added"
      case .modified: "modified"
      case .removed: "removed"
      case .synced: row.isFromCache ? "cached" : "in sync"
      case .failed: "failed"
      case .conflict: "conflict"
      case .divider, .call: ""
      }
    let flags = [row.isFromCache && row.kind != .synced ? "cached" : "", row.hasPendingWrites ? "pending" : ""]
    let source = [.failed, .call].contains(row.kind) ? "" : row.source.rawValue.lowercased()
    let parts =
      [row.listenerName, kind, row.key?.path.text ?? "", source] + flags
      + [row.summary, row.why.map { "(\($0))" } ?? "", row.batch?.description ?? ""]
    return parts.filter { !$0.isEmpty }.joined(separator: " ")
  }
}

// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel

/// The queue and the listeners in sentences.
enum PlainAccount {
  /// The largest number of batches that are told one by one.
  private static let most = 50

  static func queue(_ state: DashboardState) -> [String] {
    let (waiting, rejected) = (state.writes.waiting, state.writes.rejected)
    if waiting == 0, rejected.isEmpty { return ["queue: no write waits, none was refused"] }
    var lines = ["queue: \(count(waiting)) wait\(waiting == 1 ? "s" : ""), \(grouped(rejected.count)) refused"]
    for row in (state.writes.live + rejected).prefix(most) { lines.append("  \(sentence(row, at: state.now))") }
    let left = waiting + rejected.count - most
    if left > 0 { lines.append("  and \(grouped(left)) more") }
    return lines
  }

  private static func count(_ writes: Int) -> String { "\(grouped(writes)) write\(writes == 1 ? "" : "s")" }

  private static func sentence(_ row: QueueRow, at now: Timestamp) -> String {
    let paths = row.documents.prefix(3).map(\.path.text).joined(separator: ", ")
    let more = row.documents.count > 3 ? " and \(row.documents.count - 3) more" : ""
    let state =
      switch row.write.state {
      case _ where row.isRejected: "refused: \(row.error?.description ?? "unknown reason")"
      case .held: "held while offline"
      case .queued: "waits its turn"
      case .inFlight: "sent, not answered yet"
      case .backoff: "to be sent again"
      }
    let age = TimeText.elapsed(seconds: now.wholeSeconds(since: row.write.localWriteTime))
    let tries = row.tries > 0 ? ", \(row.tries) \(row.tries == 1 ? "try" : "tries")" : ""
    return "\(row.batch) \(row.operation.rawValue) \(paths)\(more), made \(age) ago\(tries), \(state)"
  }

  static func listeners(_ state: DashboardState) -> [String] {
    if state.listeners.isEmpty { return ["listeners: none"] }
    return ["listeners: \(state.listeners.count)"]
      + state.listeners.map { listener in
        let documents = listener.count.map { "\(grouped($0)) document\($0 == 1 ? "" : "s")" } ?? "not answered yet"
        let source = listener.count != nil && (listener.isFromCache || state.network.isOffline) ? " from cache" : ""
        let end = listener.failure.map { "ended: \($0)" }
        return "  \(listener.name): \(QueryText.line(listener.query)), \(end ?? documents + source)"
      }
  }
}

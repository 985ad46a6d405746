// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreText

/// The queue and the listeners in sentences.
enum PlainAccount {
  /// The largest number of batches that are told one by one.
  private static let most = 50

  /// A part of the session in sentences.
  static func lines(of subject: PlainSubject, _ state: DashboardState) -> [String] {
    switch subject {
    case .queue: queue(state)
    case .network: network(state)
    case .listeners: listeners(state)
    case .feed:
      ["feed: \(grouped(state.feed.rows.count)) rows"]
        + state.feed.rows.suffix(most).map { "  " + $0.text(offset: state.configuration.utcOffset) }
    case .collections: collections(state)
    case .requests: requests(state)
    // The client is asked for it.
    case .inside: []
    }
  }

  /// The inside of the client, section by section.
  static func inside(_ inside: ClientInside, _ survey: CacheSurvey) -> [String] {
    InsideSection.allCases.flatMap { section -> [String] in
      guard let table = InsideTable.of(section, inside, survey, InsideContext(inside.time)) else { return [] }
      let rows = table.rows.map { row in
        let cells = zip(table.columns, row.cells).filter { !$1.isEmpty }
        return "  " + cells.map { "\($0.title.lowercased()) \($1)" }.joined(separator: ", ")
      }
      return ["\(section.rawValue): \(rows.isEmpty ? table.empty : "\(grouped(rows.count)) rows")"] + rows
        + table.notes.map { "  \($0)" }
    }
  }

  private static func network(_ state: DashboardState) -> [String] {
    let status = state.network
    let word = status.isOffline ? "offline" : status.onlineState == .online ? "online" : "not connected"
    let since = TimeText.clock(status.since, offset: state.configuration.utcOffset)
    var lines = ["network: \(word) since \(since)" + (status.reason.map { ", \($0)" } ?? "")]
    for (name, stream) in [("watch", status.watch), ("write", status.write)] {
      let error = stream.lastError.map { ", last failure: \($0)" } ?? ""
      lines.append("  \(name) stream: \(stream.state.word)\(error)")
    }
    lines.append("  targets: \(grouped(status.activeTargets)), in flight: \(grouped(status.inFlightWrites))")
    if let last = status.roundTrips.last { lines.append("  last round trip: \(TimeText.latency(last))") }
    if !state.faults.isCalm { lines.append("  faults: \(state.faults.summary)") }
    return lines
  }

  static func queue(_ state: DashboardState) -> [String] {
    let (waiting, rejected) = (state.writes.waiting, state.writes.rejected)
    if waiting == 0, rejected.isEmpty { return ["queue: no write waits, none was refused"] }
    let aside = state.writes.setAsideCount
    var lines = [
      "queue: \(count(waiting)) wait\(waiting == 1 ? "s" : ""), \(grouped(state.writes.refusedCount)) refused"
        + (aside > 0 ? ", \(grouped(aside)) set aside" : "")
    ]
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
      case _ where row.isSetAside: "set aside by hand, not sent"
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

extension StreamStatus.State {
  fileprivate var word: String {
    switch self {
    case .closed: "closed"
    case .opening: "opening"
    case .open: "open"
    case .backoff: "waits for the next attempt"
    }
  }
}

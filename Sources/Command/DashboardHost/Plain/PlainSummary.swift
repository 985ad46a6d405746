// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreText
import TerminalCanvas

/// Descriptions of the queue and the listeners in sentences.
enum PlainSummary {
  /// The largest number of batches that are listed individually.
  private static let most = 50

  /// The description of a part of the session in sentences.
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
    // The client provides it.
    case .inside: []
    }
  }

  /// The description of the client's internals, section by section.
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
    if let faults = state.faultText { lines.append("  faults: \(faults)") }
    return lines
  }

  static func queue(_ state: DashboardState) -> [String] {
    let (waiting, rejected) = (state.writes.waiting, state.writes.rejected)
    if waiting == 0, rejected.isEmpty { return ["queue: no pending and no rejected writes"] }
    let aside = state.writes.setAsideCount
    var lines = [
      "queue: \(count(waiting)) pending, \(grouped(state.writes.refusedCount)) rejected"
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
      case _ where row.isRejected: "rejected: \(row.error?.description ?? "unknown reason")"
      case .held: "pending while offline"
      case .queued: "pending"
      case .inFlight: "sent, not answered yet"
      case .backoff: "pending until the next try"
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
        let source = listener.count != nil && (listener.isFromCache || state.network.isOffline) ? ", cached" : ""
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
    case .backoff: "closed until the next attempt"
    }
  }
}

/// Descriptions of the tree, the requests and the open document in sentences.
extension PlainSummary {
  // MARK: The tree

  static func collections(_ state: DashboardState) -> [String] {
    guard let roots = state.browser.roots else { return ["collections: not listed yet"] }
    let failure = state.browser.rootsFailure.map { ["  the server does not list them: \($0)"] } ?? []
    return ["collections: \(roots.isEmpty ? "none" : grouped(roots.count))"] + failure
      + roots.map { "  \($0): " + documents(in: ResourcePath($0), state) + hearing(of: ResourcePath($0), state) }
  }

  private static func documents(in path: ResourcePath, _ state: DashboardState) -> String {
    guard let count = state.browser.windows[path]?.count, let number = count.number else { return "not counted" }
    let documents = "\(grouped(number)) document\(number == 1 ? "" : "s")"
    if count.cached != nil { return documents + " in the cache" }
    return documents + (state.countAge(of: path).map { ", \($0) ago" } ?? "")
  }

  private static func hearing(of path: ResourcePath, _ state: DashboardState) -> String {
    let listeners = state.listeners.filter { $0.failure == nil && $0.covers(path) }
    if listeners.isEmpty { return "" }
    if listeners.contains(where: { $0.scope == .all }) { return ", listened to" }
    return ", listened to in part: " + listeners.compactMap(\.scope.words).joined(separator: ", ")
  }

  // MARK: Requests

  static func requests(_ state: DashboardState) -> [String] {
    if let note = state.requestsNote, state.requests.shown.isEmpty { return ["requests: \(note)"] }
    let all = state.requests.all ?? []
    return ["requests: \(grouped(all.count)), \(grouped(state.requests.denied)) of them denied"]
      + all.flatMap { ["  " + line(of: $0, state)] + statements(of: $0) }
  }

  static func line(of decision: RuleDecision, _ state: DashboardState) -> String {
    TimeText.milliseconds(decision.time, offset: state.configuration.utcOffset, from: .hours) + " " + decision.sentence
  }

  /// The statements of the rules that were evaluated for a denied request, with the values of their parts.
  private static func statements(of decision: RuleDecision) -> [String] {
    if decision.isAllowed { return [] }
    return decision.account.dropFirst().filter { !$0.text.isEmpty }.map { "    " + $0.text }
  }

  // MARK: The open document

  /// The description of all tabs of the open document.
  static func lines(of detail: Detail, _ state: DashboardState) -> [String] {
    var shown = detail
    shown.fold(.open)
    let source = detail.source.map { $0.isFromCache || state.network.isOffline ? "cache" : "server" } ?? "cache"
    return ["document \(detail.key.path.text), from the \(source)"]
      + Detail.Tab.allCases.flatMap { tab -> [String] in
        shown.tab = tab
        let lines = DetailContent.lines(of: shown, in: state)
        return ["  \(tab.title.lowercased()):"] + lines.map { "    " + text(of: $0.content, state) }
      }
  }

  private static func text(of content: DetailContent.Line.Content, _ state: DashboardState) -> String {
    switch content {
    case .field(let field): text(of: field)
    case .change(let change): change.text(arrow: " to ")
    case .version(let version): text(of: version, state)
    case .layers(let name, let server, let queued, let seen):
      "\(name): server \(text(of: server)), queued \(queued ?? "nothing"), seen \(text(of: seen))"
    case .fact("", let reason): "  " + spoken(reason, state.configuration.glyphs)
    case .fact(let name, let text): "\(name): \(text)"
    case .rest(let text), .note(let text): text
    }
  }

  /// A reason in which words replace the symbol for a condition that is or is not satisfied.
  private static func spoken(_ reason: String, _ glyphs: Glyphs) -> String {
    let words = [glyphs.check: "holds", glyphs.cross: "does not hold", "?": "not known"]
    guard let (sign, word) = words.first(where: { reason.hasPrefix($0.key + " ") }) else { return reason }
    return "\(word): \(reason.dropFirst(sign.count + 1))"
  }

  private static func text(of value: Value?) -> String { value.map(ValueText.readable) ?? "nothing" }

  private static func text(of field: FieldTree.Line) -> String {
    let name = String(repeating: "  ", count: field.depth) + field.name
    if field.isOpen == true { return "\(name):" }
    switch field.change {
    case .none: return "\(name): \(text(of: field.local))"
    case .added: return "\(name): \(text(of: field.local)), not at the server"
    case .modified: return "\(name): \(text(of: field.local)), at the server \(text(of: field.server))"
    case .removed: return "\(name): removed, at the server \(text(of: field.server))"
    }
  }

  private static func text(of version: VersionHistory.Version, _ state: DashboardState) -> String {
    let clock = TimeText.milliseconds(version.time, offset: state.configuration.utcOffset, from: .hours)
    let words = [version.summary, version.why, version.batch?.description].compactMap(\.self)
    return "\(clock) \(version.isLocal ? "local" : "server") \(words.joined(separator: ", "))"
  }
}

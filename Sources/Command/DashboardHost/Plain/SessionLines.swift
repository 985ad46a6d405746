// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

/// Converts the events of a session without a screen to JSON objects, one per line.
struct SessionLines {
  typealias Member = JSONSyntax.Member

  private var lastRow = 0
  private var told = 0
  private var queue = ""
  private var status = ""

  /// The lines since the last call, oldest first. They contain feed rows, changes of the queue and the status, and
  /// messages. Call this after every action.
  mutating func news(of state: DashboardState) -> [String] {
    var lines: [String] = []
    let status = Self.status(state)
    if status != self.status { lines.append(status) }
    let queue = Self.queue(state)
    if queue != self.queue { lines.append(queue) }
    (self.status, self.queue) = (status, queue)
    for row in state.feed.rows.reversed().prefix(while: { $0.id > lastRow }).reversed() {
      lines.append(Self.row(row, state))
    }
    lastRow = state.feed.rows.last?.id ?? lastRow
    for message in state.messages.suffix(max(0, state.messageCount - told)) { lines.append(Self.message(message)) }
    told = state.messageCount
    return lines
  }

  /// A part of the session as one line. For the feed, one line per row.
  static func lines(of subject: PlainSubject, _ state: DashboardState) -> [String] {
    switch subject {
    case .queue: [queue(state)]
    case .network: [network(state)]
    case .listeners: [listeners(state)]
    case .feed: state.feed.rows.map { row($0, state) }
    case .collections: [collections(state)]
    case .requests: [requests(state)]
    // The client provides it.
    case .inside: []
    }
  }

  /// The response to a command, or the result of an expectation.
  static func answer(_ text: String, isMet: Bool?) -> String {
    line(
      isMet == nil ? "answer" : "expectation",
      (isMet.map { [Member("met", ClientJSON.boolean($0))] } ?? []) + [Member("text", ClientJSON.string(text))])
  }

  // MARK: Parts

  private static func queue(_ state: DashboardState) -> String {
    let context = JSONContext(state.configuration.database)
    return line(
      "queue",
      [
        Member("waiting", ClientJSON.integer(state.writes.waiting)),
        Member("bytes", ClientJSON.integer(state.writes.byteCount)),
        Member("writes", state.writes.live.map(\.write).json(context)),
        Member("rejected", ClientJSON.array(state.writes.rejected.map { rejected($0, context) })),
      ])
  }

  private static func rejected(_ row: QueueRow, _ context: JSONContext) -> JSONSyntax {
    ClientJSON.object([
      Member("batch", row.batch.json(context)), Member("writes", row.write.mutations.json(context)),
      Member("error", row.error.map(ClientJSON.status) ?? ClientJSON.null),
      Member("time", row.rejectedAt.map(ClientJSON.time) ?? ClientJSON.null),
      Member("setAside", ClientJSON.boolean(row.isSetAside)),
    ])
  }

  private static func status(_ state: DashboardState) -> String {
    ClientJSON.line(ClientEvent.status(state.network.withoutLists), in: state.configuration.database)
  }

  private static func network(_ state: DashboardState) -> String {
    let context = JSONContext(state.configuration.database)
    guard case .object(let members) = state.network.withoutLists.json(context).kind else { return "" }
    return line("network", members + [Member("faults", state.faults.settings.json(context))])
  }

  private static func listeners(_ state: DashboardState) -> String {
    let listeners = state.listeners.map { listener in
      ClientJSON.object([
        Member("name", ClientJSON.string(listener.name)),
        Member("query", ClientJSON.string(QueryText.line(listener.query))),
        Member("documents", listener.count.map(ClientJSON.integer) ?? ClientJSON.null),
        Member("fromCache", ClientJSON.boolean(listener.isFromCache || state.network.isOffline)),
        Member("pendingWrites", ClientJSON.boolean(listener.hasPendingWrites)),
        Member("error", listener.failure.map(ClientJSON.status) ?? ClientJSON.null),
      ])
    }
    return line("listeners", [Member("listeners", ClientJSON.array(listeners))])
  }

  private static func row(_ row: FeedRow, _ state: DashboardState) -> String {
    func number(_ batch: BatchID?) -> JSONSyntax {
      batch.map { ClientJSON.integer(Int($0.rawValue)) } ?? ClientJSON.null
    }
    let listener = row.listenerName.isEmpty ? ClientJSON.null : ClientJSON.string(row.listenerName)
    return line(
      "feed",
      [
        Member("number", ClientJSON.integer(row.id)), Member("time", ClientJSON.time(row.time)),
        Member("kind", ClientJSON.string("\(row.kind)")), Member("listener", listener),
        Member("path", row.key.map { ClientJSON.string($0.path.text) } ?? ClientJSON.null),
        Member("source", ClientJSON.string(row.source.rawValue.lowercased())),
        Member("fromCache", ClientJSON.boolean(row.isFromCache)),
        Member("pendingWrites", ClientJSON.boolean(row.hasPendingWrites)), Member("batch", number(row.batch)),
        Member("acknowledges", number(row.acknowledges)), Member("ends", number(row.ends)),
        Member("events", ClientJSON.integer(row.count)), Member("summary", ClientJSON.string(row.summary)),
        Member("why", row.why.map(ClientJSON.string) ?? ClientJSON.null),
        Member("data", row.document.map { ClientJSON.data($0, state.configuration.database) } ?? ClientJSON.null),
      ])
  }

  private static func message(_ toast: Toast) -> String {
    line(
      "message",
      [
        Member("kind", ClientJSON.string("\(toast.kind)")), Member("time", ClientJSON.time(toast.shownAt)),
        Member("text", ClientJSON.string(toast.text)),
      ])
  }

  static func line(_ type: String, _ members: [Member]) -> String {
    ClientJSON.object([Member("type", ClientJSON.string(type))] + members).lineText
  }
}

/// The tree and the requests as JSON.
extension SessionLines {
  // MARK: The tree

  static func collections(_ state: DashboardState) -> String {
    line(
      "collections",
      [
        Member(
          "collections",
          ClientJSON.array((state.browser.roots ?? []).map { collection(ResourcePath($0), state) })),
        Member("error", state.browser.rootsFailure.map(ClientJSON.status) ?? ClientJSON.null),
      ])
  }

  private static func collection(_ path: ResourcePath, _ state: DashboardState) -> JSONSyntax {
    let window = state.browser.windows[path]
    let listeners = state.listeners.filter { $0.failure == nil && $0.covers(path) }
    let heard = listeners.isEmpty ? "nothing" : listeners.contains { $0.scope == .all } ? "all" : "part"
    return ClientJSON.object([
      Member("path", ClientJSON.string(path.text)),
      Member("documents", window?.count.known.map { ClientJSON.integer($0.number) } ?? ClientJSON.null),
      Member("counted", window?.count.known.map { ClientJSON.time($0.time) } ?? ClientJSON.null),
      Member("live", ClientJSON.boolean(window?.count.known != nil && state.isCountLive(path))),
      Member("cached", window?.count.cached.map(ClientJSON.integer) ?? ClientJSON.null),
      Member("heard", ClientJSON.string(heard)),
      Member("listeners", ClientJSON.array(listeners.map { ClientJSON.string($0.name) })),
    ])
  }

  // MARK: Requests

  /// The decisions received so far, oldest first. The JSON has the member names that the server uses.
  static func requests(_ state: DashboardState) -> String {
    let all = state.requests.all ?? []
    let problem = state.reasonAgainstRequests ?? state.requests.failure
    return line(
      "requests",
      [
        Member("allowed", ClientJSON.integer(all.count - state.requests.denied)),
        Member("denied", ClientJSON.integer(state.requests.denied)),
        Member("problem", problem.map(ClientJSON.string) ?? ClientJSON.null),
        Member("requests", ClientJSON.array(all.map(request))),
      ])
  }

  /// A request that was reported when the rules decided on it.
  static func request(told decision: RuleDecision) -> String {
    line("request", members(of: decision))
  }

  private static func request(_ decision: RuleDecision) -> JSONSyntax { ClientJSON.object(members(of: decision)) }

  private static func members(of decision: RuleDecision) -> [Member] {
    let verdict: String =
      switch decision.verdict {
      case .allowed: "allow"
      case .denied: "deny"
      case .failed: "error"
      }
    return [
      Member("number", ClientJSON.integer(decision.number)), Member("time", ClientJSON.time(decision.time)),
      Member("verdict", ClientJSON.string(verdict)), Member("method", ClientJSON.string(decision.method)),
      Member("path", ClientJSON.string(decision.pathText)),
      Member("user", decision.user.map(ClientJSON.string) ?? ClientJSON.null),
      Member("line", decision.line.map(ClientJSON.integer) ?? ClientJSON.null),
      Member("milliseconds", decision.milliseconds.map { JSONSyntax(.double($0)) } ?? ClientJSON.null),
      Member("reason", ClientJSON.string(decision.reason)),
      Member("statements", decision.statements.map { ClientJSON.array($0.map(statement)) } ?? ClientJSON.null),
    ]
  }

  private static func statement(_ statement: RuleDecision.Statement) -> JSONSyntax {
    let values = statement.values.map { seen in
      ClientJSON.object([
        Member("expression", ClientJSON.string(seen.expression)),
        Member(seen.isFailure ? "error" : "value", ClientJSON.string(seen.value)),
      ])
    }
    let result = statement.isTrue.map { $0 ? "true" : "false" } ?? "error"
    return ClientJSON.object([
      Member("line", ClientJSON.integer(statement.line)), Member("text", ClientJSON.string(statement.text)),
      Member("result", ClientJSON.string(result)), Member("message", ClientJSON.string(statement.message)),
      Member("values", ClientJSON.array(values)),
    ])
  }
}

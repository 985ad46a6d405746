// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import FirestoreClientState
package import FirestoreModel

/// The requests on which the server's security rules decided, newest last. This is the second list of pane 4. While it
/// is on screen, the dashboard polls the server.
package struct RequestFeed: Sendable {
  /// The maximum count of stored decisions. Older decisions are dropped.
  package static let capacity = 1000
  /// The polling interval in seconds.
  private static let pause: Int64 = 1

  /// The decisions; `nil` until the server has responded.
  package private(set) var all: [RuleDecision]?
  /// The decisions that match the filters.
  package private(set) var shown: [RuleDecision] = []
  /// The reason why the server has sent no decisions.
  package private(set) var failure: String?
  package var cursor = Cursor<Int>()
  /// Whether the newest request is selected.
  package private(set) var isFollowing = true
  package var filter = RowFilter.none { didSet { refilter() } }
  package var isDeniedOnly = false { didSet { refilter() } }
  /// The user whose requests are shown; `nil` for all users. The inner `nil` means requests without a signed-in user.
  package private(set) var onlyUser: String??
  /// The rejected write whose request must be found.
  package private(set) var wanted: RefusedWrite?
  package var asksAgainAt = Timestamp(seconds: 0)

  package init() {}

  package var denied: Int { all?.count { !$0.isAllowed } ?? 0 }

  /// The request that commands act on.
  package var selected: RuleDecision? {
    isFollowing ? shown.last : cursor.id.flatMap { id in shown.last { $0.number == id } }
  }

  package var numbers: [Int] { shown.map(\.number) }

  /// The count of requests after the selected request, while the list is paused.
  package var newCount: Int { isFollowing ? 0 : max(0, shown.count - 1 - cursor.index) }

  package var isFiltered: Bool { isDeniedOnly || onlyUser != nil || !filter.isEmpty }

  /// The sentence that is shown if there are no rows.
  package var note: String? {
    if let failure { return failure }
    guard let all else { return "asking the server" }
    if all.isEmpty { return "rules have checked no request so far; administrators bypass them" }
    return shown.isEmpty ? "none of the last \(all.count) passes the filter; esc shows all" : nil
  }

  // MARK: Answers

  /// Starts polling immediately. The first request is due now.
  package mutating func ask(at now: Timestamp) -> [Effect] {
    asksAgainAt = now.advanced(seconds: Self.pause)
    return [.client(.listDecisions(after: nil))]
  }

  /// The request to the server for decisions since the last response, if it is due.
  package mutating func takeDueQuestion(at now: Timestamp) -> [Effect] {
    guard asksAgainAt <= now else { return [] }
    asksAgainAt = now.advanced(seconds: Self.pause)
    return [.client(.listDecisions(after: failure == nil ? all?.last?.number ?? 0 : nil))]
  }

  package mutating func take(_ answer: Result<[RuleDecision], RPCStatus>) {
    switch answer {
    case .success(let decisions):
      let told = decisions.sorted { $0.number < $1.number }
      let newest = all?.last?.number ?? 0
      // A restarted server counts from 1 again.
      let known = told.last.map { $0.number < newest } ?? true ? [] : all ?? []
      all = (known + told.filter { $0.number > known.last?.number ?? 0 }).suffix(Self.capacity)
      failure = nil
    case .failure(let status): failure = status.description
    }
    refilter()
  }

  // MARK: Selection

  package mutating func follow() { isFollowing = true }

  /// Pauses the list, so that the selected request remains selected.
  package mutating func hold() {
    guard isFollowing else { return }
    isFollowing = false
    cursor.select(index: shown.count - 1, in: numbers)
  }

  /// Selects a request. Resets the filters if they hide it.
  package mutating func select(_ decision: RuleDecision) {
    if !shown.contains(where: { $0.number == decision.number }) { clearFilter() }
    isFollowing = false
    cursor.select(decision.number)
  }

  package mutating func settle(height: Int) {
    if isFollowing { cursor.select(index: shown.count - 1, in: numbers) }
    cursor.settle(in: numbers, height: height)
  }

  // MARK: Filters

  /// Toggles between the selected request's user and all users.
  package mutating func toggleOnlyUser() {
    onlyUser = onlyUser == nil ? selected.map(\.user) : .none
    refilter()
  }

  package mutating func clearFilter() {
    onlyUser = .none
    isDeniedOnly = false
    filter = .none
  }

  private mutating func refilter() {
    shown = (all ?? []).filter { decision in
      if isDeniedOnly, decision.isAllowed { return false }
      if let onlyUser, decision.user != onlyUser { return false }
      return filter.matches(decision.searchText)
    }
  }

  // MARK: Refused writes

  package mutating func look(for write: RefusedWrite) { wanted = write }

  /// Returns the request of the rejected write if it was found, and ends the search for it.
  package mutating func takeWanted() -> (write: RefusedWrite, decision: RuleDecision?)? {
    guard let write = wanted else { return nil }
    wanted = nil
    return (write, write.request(among: all ?? []))
  }
}

/// A write that the server's rules rejected. Used to find the matching request in the server's list.
package struct RefusedWrite: Hashable, Sendable {
  /// The maximum difference in milliseconds between the clocks of client and server, including the latency of the
  /// response.
  private static let tolerance: Int64 = 60_000

  package var batch: BatchID
  package var rejectedAt: Timestamp
  /// The documents of the write, each with the methods that the rules check.
  private var methods: [ResourcePath: Set<String>] = [:]

  /// - Returns: `nil` unless the write was rejected for lack of permission.
  package init?(_ row: QueueRow, now: Timestamp) {
    guard row.isRejected, row.error?.code == .permissionDenied else { return nil }
    batch = row.batch
    rejectedAt = row.rejectedAt ?? now
    for mutation in row.write.mutations {
      let isDeletion = if case .delete = mutation.operation { true } else { false }
      methods[mutation.key.path, default: []].formUnion(isDeletion ? ["delete"] : ["create", "update"])
    }
  }

  /// The request of this write among the decisions: a denied request for one of its documents. If there are several,
  /// returns the one that is nearest in time.
  package func request(among decisions: [RuleDecision]) -> RuleDecision? {
    decisions.filter { decision in
      !decision.isAllowed && methods[decision.path]?.contains(decision.method) == true
        && distance(of: decision) <= Self.tolerance
    }.min { distance(of: $0) < distance(of: $1) }
  }

  private func distance(of decision: RuleDecision) -> Int64 {
    max(decision.time.milliseconds(since: rejectedAt), rejectedAt.milliseconds(since: decision.time))
  }
}

/// Texts for a request and the rules' decision.
extension RuleDecision {
  package var pathText: String { path.isRoot ? "/" : path.text }
  package var userText: String { user ?? "nobody" }

  /// `allow`, `DENY` or `ERROR`.
  package var verdictText: String {
    switch verdict {
    case .allowed: "allow"
    case .denied: "DENY"
    case .failed: "ERROR"
    }
  }

  /// The time that the evaluation of the rules took: `0.18 ms`.
  package var timeText: String? {
    milliseconds.map { milliseconds in
      guard milliseconds.isFinite, milliseconds < 1_000_000 else { return "long" }
      let hundredths = Int((max(0, milliseconds) * 100).rounded())
      let fraction = String(hundredths % 100)
      return "\(hundredths / 100)." + (fraction.count < 2 ? "0" : "") + fraction + " ms"
    }
  }

  /// A sentence with the request, its user and the decision.
  package var sentence: String {
    let verdict = (isAllowed ? "allowed" : "denied") + (line.map { " by line \($0)" } ?? "")
    let end = isAllowed || reason.isEmpty ? "" : ": \(reason)"
    return "\(method) \(pathText) as \(userText): \(verdict)\(end)"
  }

  /// The text that a filter searches.
  var searchText: String {
    [verdictText, verdict == .failed ? "DENY" : "", userText, method, pathText, line.map { "L\($0)" } ?? "", reason]
      .joined(separator: " ")
  }

  /// A line in the description of a request.
  package struct SummaryRow: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case text, rule, note, failure }

    package var kind: Kind
    package var indent = 0
    package var text: String
  }

  /// The description of the request: its properties, then each evaluated statement with the values of its parts.
  package var account: [SummaryRow] {
    let head = SummaryRow(kind: .text, text: sentence)
    guard let statements else {
      return [head, SummaryRow(kind: .note, text: "This server does not report the values of its rules.")]
    }
    return [head] + statements.flatMap(\.account)
  }
}

extension RuleDecision.Statement {
  fileprivate var account: [RuleDecision.SummaryRow] {
    var lines = [
      RuleDecision.SummaryRow(kind: .text, text: ""),
      RuleDecision.SummaryRow(kind: .rule, text: "L\(line) \(text)"),
    ]
    lines += values.map { seen in
      RuleDecision.SummaryRow(
        kind: seen.isFailure ? .failure : .text, indent: 4,
        text: "\(seen.expression) \(seen.isFailure ? "has no value:" : "=") \(seen.value)")
    }
    switch isTrue {
    case true?: lines.append(RuleDecision.SummaryRow(kind: .note, indent: 4, text: "true: allowed"))
    case false?: lines.append(RuleDecision.SummaryRow(kind: .note, indent: 4, text: "false: not allowed"))
    case nil: lines.append(RuleDecision.SummaryRow(kind: .failure, indent: 4, text: "not allowed: \(message)"))
    }
    return lines
  }
}

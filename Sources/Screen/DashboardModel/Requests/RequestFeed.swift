// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// The requests that the server's security rules decided on, the newest last: the second list of pane 4. While it is on
/// the screen the server is asked repeatedly.
package struct RequestFeed: Sendable {
  /// Older decisions are forgotten.
  package static let capacity = 1000
  /// The pause between two questions to the server, in seconds.
  private static let pause: Int64 = 1

  /// The decisions; `nil` until the server has answered.
  package private(set) var all: [RuleDecision]?
  /// The decisions that pass the filters.
  package private(set) var shown: [RuleDecision] = []
  /// The reason why the server has told nothing.
  package private(set) var failure: String?
  package var cursor = Cursor<Int>()
  /// Whether the newest request is the selected one.
  package private(set) var isFollowing = true
  package var filter = RowFilter.none { didSet { refilter() } }
  package var isDeniedOnly = false { didSet { refilter() } }
  /// The user whose requests alone are shown; the inner `nil` stands for users who are not signed in.
  package private(set) var onlyUser: String??
  /// The refused write whose request is looked for.
  package private(set) var wanted: RefusedWrite?
  package var asksAgainAt = Timestamp(seconds: 0)

  package init() {}

  package var denied: Int { all?.count { !$0.isAllowed } ?? 0 }

  /// The request that commands mean.
  package var selected: RuleDecision? {
    isFollowing ? shown.last : cursor.id.flatMap { id in shown.last { $0.number == id } }
  }

  package var numbers: [Int] { shown.map(\.number) }

  /// Requests behind the selected one, while it is held.
  package var newCount: Int { isFollowing ? 0 : max(0, shown.count - 1 - cursor.index) }

  package var isFiltered: Bool { isDeniedOnly || onlyUser != nil || !filter.isEmpty }

  /// The note in place of rows.
  package var note: String? {
    if let failure { return failure }
    guard let all else { return "asking the server" }
    if all.isEmpty { return "no request has been put to rules so far; administrators' are not" }
    return shown.isEmpty ? "none of the last \(all.count) passes; esc shows all" : nil
  }

  // MARK: Answers

  /// Begins to ask, at once.
  package mutating func ask(at now: Timestamp) -> [Effect] {
    asksAgainAt = now.advanced(seconds: Self.pause)
    return [.client(.listDecisions(after: nil))]
  }

  /// The question to the server, if it is due, for decisions since the last answer.
  package mutating func takeDueQuestion(at now: Timestamp) -> [Effect] {
    guard asksAgainAt <= now else { return [] }
    asksAgainAt = now.advanced(seconds: Self.pause)
    return [.client(.listDecisions(after: failure == nil ? all?.last?.number ?? 0 : nil))]
  }

  package mutating func take(_ answer: ClientEvent.DecisionsResult) {
    switch answer {
    case .success(let decisions):
      let told = decisions.sorted { $0.number < $1.number }
      let newest = all?.last?.number ?? 0
      // A server that was started again counts from 1 again.
      let known = told.last.map { $0.number < newest } ?? true ? [] : all ?? []
      all = (known + told.filter { $0.number > known.last?.number ?? 0 }).suffix(Self.capacity)
      failure = nil
    case .failure(let status): failure = status.description
    }
    refilter()
  }

  // MARK: Selection

  package mutating func follow() { isFollowing = true }

  /// Holds the selected request where it is.
  package mutating func hold() {
    guard isFollowing else { return }
    isFollowing = false
    cursor.select(index: shown.count - 1, in: numbers)
  }

  /// Selects a request, whatever the filters were.
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

  /// Shows the selected request's user only, or all again.
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

  /// The request of the refused write that is looked for, and the end of the search.
  package mutating func takeWanted() -> (write: RefusedWrite, decision: RuleDecision?)? {
    guard let write = wanted else { return nil }
    wanted = nil
    return (write, write.request(among: all ?? []))
  }
}

/// A write that the server's rules have refused, to be found among its requests.
package struct RefusedWrite: Hashable, Sendable {
  /// Clocks of two machines are as far apart, with the way of the answer.
  private static let tolerance: Int64 = 60_000

  package var batch: BatchID
  package var rejectedAt: Timestamp
  /// The documents, each with the methods that rules are asked about.
  private var methods: [ResourcePath: Set<String>] = [:]

  /// - Returns: `nil` for a write that was not refused for want of permission.
  package init?(_ row: QueueRow, now: Timestamp) {
    guard row.isRejected, row.error?.code == .permissionDenied else { return nil }
    batch = row.batch
    rejectedAt = row.rejectedAt ?? now
    for mutation in row.write.mutations {
      let isDeletion = if case .delete = mutation.operation { true } else { false }
      methods[mutation.key.path, default: []].formUnion(isDeletion ? ["delete"] : ["create", "update"])
    }
  }

  /// The denial that is nearest in time, about one of the documents.
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

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreRules
package import FirestoreService
import Synchronization

/// The security rules of a server: shared rules, and separate rules of projects and databases. A project's rules take
/// precedence over a database's. Counts decisions and reports them to watchers.
package final class AccessRules: AccessPolicy {
  /// The source of the rules.
  package enum Source: Sendable {
    case ruleset(Ruleset)
    /// Invalid rules that were accepted anyway. Every request is rejected.
    case broken([RulesFile], [RulesIssue])

    package var files: [RulesFile] {
      switch self {
      case .ruleset(let ruleset): ruleset.files
      case .broken(let files, _): files
      }
    }
  }

  private struct Loaded {
    var source: Source
    /// The sets of counts and buffers that no decision is using.
    var rooms: [RulesRoom] = []
  }

  /// A decision, and the watchers to notify.
  private struct Verdict {
    let evaluation: RulesEvaluation
    let watchers: [@Sendable (RulesEvaluation) -> Void]
  }

  private struct State {
    var shared: Loaded?
    var projects: [String: Loaded] = [:]
    /// The separate rules of databases, by database id.
    var databases: [String: Loaded] = [:]
    var evaluations = PastEvaluations()
    var watchers: [Int: @Sendable (RulesEvaluation) -> Void] = [:]
    var lastWatcher = 0
    var changes: [@Sendable () -> Void] = []

    func loaded(for project: String) -> Loaded? { projects[project] ?? shared }

    func loaded(for database: DatabaseID) -> Loaded? {
      projects[database.project] ?? databases[database.database] ?? shared
    }

    /// Removes and returns unused counts and buffers for a database's rules.
    mutating func room(for database: DatabaseID) -> RulesRoom {
      let (project, id) = (database.project, database.database)
      if projects[project] != nil { return projects[project]?.rooms.popLast() ?? RulesRoom() }
      if databases[id] != nil { return databases[id]?.rooms.popLast() ?? RulesRoom() }
      return shared?.rooms.popLast() ?? RulesRoom()
    }

    /// Puts counts and buffers back for reuse, unless the rules have changed since.
    mutating func putBack(_ room: consuming RulesRoom, of ruleset: Ruleset, for database: DatabaseID) {
      guard case .ruleset(let known)? = loaded(for: database)?.source, known === ruleset else { return }
      let (project, id) = (database.project, database.database)
      if projects[project] != nil {
        projects[project]?.rooms.append(room)
      } else if databases[id] != nil {
        databases[id]?.rooms.append(room)
      } else {
        shared?.rooms.append(room)
      }
    }
  }

  private let state = Mutex(State())
  private let active = Atomic(false)
  private let changeCount = Atomic(0)
  private let tokens: TokenReader
  /// Whether a rejected caller learns which rule rejected the request.
  package let tellsWhy: Bool
  /// Whether a list is allowed only if the rules prove it for every document that the query can find (see
  /// `Ruleset.decide`).
  private let provesLists: Bool
  /// Logs a line; called on the thread that makes a decision.
  private let log: (@Sendable (String) -> Void)?
  /// The warnings that have been logged, so that each is logged once.
  private let warnings = Mutex<Set<String>>([])

  package init(
    _ tokens: TokenReader = TokenReader(), tellsWhy: Bool = true, provesLists: Bool = false,
    log: (@Sendable (String) -> Void)? = nil
  ) {
    self.tokens = tokens
    self.tellsWhy = tellsWhy
    self.provesLists = provesLists
    self.log = log
  }

  /// Whether callers must authenticate with signed tokens or the administrator's secret.
  package var asksForProof: Bool { tokens.asksForProof }
  /// Whether there are any rules.
  package var isActive: Bool { active.load(ordering: .relaxed) }
  /// A number that increases with each change of rules.
  package var changeNumber: Int { changeCount.load(ordering: .acquiring) }

  /// Replaces rules, and resets the counts.
  /// - Parameters:
  ///   - source: the new rules; `nil` for none.
  ///   - project: the project; `nil` for all projects without separate rules.
  package func set(_ source: Source?, for project: String? = nil) {
    change(source) { state, loaded in
      if let project { state.projects[project] = loaded } else { state.shared = loaded }
    }
  }

  /// Replaces the separate rules of a database in every project, and resets their counts.
  /// - Parameters:
  ///   - source: the new rules; `nil` for none.
  ///   - database: the id of the database.
  package func set(_ source: Source?, forDatabase database: String) {
    change(source) { state, loaded in state.databases[database] = loaded }
  }

  private func change(_ source: Source?, _ set: (inout State, Loaded?) -> Void) {
    let loaded = source.map { Loaded(source: $0) }
    let told = state.withLock { state in
      set(&state, loaded)
      let isActive = state.shared != nil || !state.projects.isEmpty || !state.databases.isEmpty
      active.store(isActive, ordering: .relaxed)
      return state.changes
    }
    changeCount.add(1, ordering: .releasing)
    for change in told { change() }
  }

  /// Registers `body`, which is called after each change of rules.
  package func onChange(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.changes.append(body) } }

  package func source(for project: String) -> Source? { state.withLock { $0.loaded(for: project)?.source } }

  /// Whether there are rules for a database.
  func concern(_ database: DatabaseID) -> Bool {
    isActive && state.withLock { $0.loaded(for: database) != nil }
  }

  /// Identifies a caller.
  /// - Throws: `invalid-argument` or `unauthenticated` for an invalid token.
  package func caller(_ authorization: String?) throws(RPCStatus) -> Caller { try tokens.caller(authorization) }

  package func permissions(of authorization: String?) throws(RPCStatus) -> (any CallerPermissions)? {
    let (caller, expiry) = try tokens.identify(authorization)
    guard case .user(let user) = caller else { return nil }
    return CallAccess(rules: self, user: user, expiry: expiry)
  }

  /// - Throws: `unauthenticated` for a token that has expired.
  func checkTime(_ expiry: Int64?) throws(RPCStatus) { if let expiry { try tokens.check(expiry) } }

  /// The seconds until a token expires; `nil` if it never expires.
  func timeLeft(until expiry: Int64?) -> Int64? { expiry.flatMap { tokens.timeLeft(until: $0) } }

  /// - Throws: `unauthenticated` for a user of another project.
  func check(_ user: RulesUser?, for database: DatabaseID) throws(RPCStatus) { try tokens.check(user, for: database) }

  /// The error for a rejected caller. It begins with production's text, which clients may check, followed by the
  /// emulator's text.
  func denial(_ verdict: RulesVerdict) -> RPCStatus {
    let reason = tellsWhy && !verdict.denial.isEmpty ? " " + verdict.denial.drop(while: \.isWhitespace) : ""
    return RPCStatus(.permissionDenied, "Missing or insufficient permissions." + reason)
  }

  /// - Returns: `nil` for a project without rules.
  func decide(_ request: SharedRequest, _ documents: any RulesDocuments) throws(RPCStatus) -> RulesVerdict? {
    let database = request.value.database
    var (source, room, tellsValues) = state.withLock {
      ($0.loaded(for: database)?.source, $0.room(for: database), !$0.watchers.isEmpty || $0.evaluations.areAskedFor)
    }
    let ruleset: Ruleset
    switch source {
    case .ruleset(let known)?: ruleset = known
    case .broken(_, let issues)?: throw RPCStatus(.invalidArgument, issues.compileError)
    case nil: return nil
    }
    let start = ContinuousClock.now
    let verdict = ruleset.decide(request, documents, &room, tellsValues: tellsValues, provesLists: provesLists)
    let time = ContinuousClock.now - start
    let news = state.withLock { state in
      state.putBack(room, of: ruleset, for: database)
      state.evaluations.append(request, verdict, time, ruleset, isWatched: !state.watchers.isEmpty)
      if state.watchers.isEmpty { return Verdict?.none }
      let evaluation = RulesEvaluation(
        number: state.evaluations.count, request: request, verdict: verdict, time: time, ruleset: ruleset)
      return Verdict(evaluation: evaluation, watchers: Array(state.watchers.values))
    }
    if let news { for watcher in news.watchers { watcher(news.evaluation) } }
    log(verdict, request.value, ruleset)
    return verdict
  }

  /// The maximum number of different warnings that are logged.
  private static let mostWarnings = 1_000

  /// Logs the values of `debug`, and each warning once.
  private func log(_ verdict: RulesVerdict, _ request: RulesRequest, _ ruleset: Ruleset) {
    guard let log, !verdict.debugged.isEmpty || verdict.assumed != nil else { return }
    let file = ruleset.files.first?.name ?? "rules"
    for remark in verdict.debugged { log("\(file):\(remark.line): debug: \(remark.text)") }
    guard let warning = verdict.warning, let line = verdict.decidingLine else { return }
    let text = "\(file):\(line): list of \(request.path.text.isEmpty ? "all documents" : request.path.text): \(warning)"
    let isNew = warnings.withLock { $0.count < Self.mostWarnings && $0.insert(text).inserted }
    if isNew { log(text) }
  }

  /// The rules with their counts; `nil` for a project without rules.
  package func coverage(of project: String) -> (source: Source, counts: RulesCoverage)? {
    guard let loaded = state.withLock({ $0.loaded(for: project) }) else { return nil }
    var counts = RulesCoverage()
    for room in loaded.rooms { counts.add(room.coverage) }
    return (loaded.source, counts)
  }

  /// The coverage of the rules, one line for each ruleset. If the project has a separate ruleset, only this ruleset is
  /// included. Otherwise, the rulesets of databases and the shared ruleset are included.
  package func coverageLines(of project: String) -> [String] {
    let all = state.withLock { state in
      state.projects[project].map { [$0] }
        ?? state.databases.sorted { $0.key < $1.key }.map(\.value) + [state.shared].compactMap(\.self)
    }
    return all.compactMap { loaded in
      guard case .ruleset(let ruleset) = loaded.source else { return nil }
      var counts = RulesCoverage()
      for room in loaded.rooms { counts.add(room.coverage) }
      return ruleset.summary(counts)
    }
  }

  /// Reports each decision from now on, on the thread that made it.
  /// - Returns: the last earlier decisions, and the number to pass to `endWatch`.
  package func watch(_ body: @escaping @Sendable (RulesEvaluation) -> Void) -> (past: [RulesEvaluation], number: Int) {
    state.withLock { state in
      state.lastWatcher += 1
      state.watchers[state.lastWatcher] = body
      return (state.evaluations.inOrder, state.lastWatcher)
    }
  }

  /// The last decisions. A client that requests them will probably request more, so later decisions also record the
  /// values of conditions that allowed a request.
  package func lastEvaluations() -> [RulesEvaluation] {
    state.withLock { state in
      state.evaluations.noteAsked()
      return state.evaluations.inOrder
    }
  }

  package func endWatch(_ number: Int) { state.withLock { $0.watchers[number] = nil } }
}

extension FirestoreService {
  /// The security rules for the service's callers; `nil` if there are none.
  package var securityRules: AccessRules? { rules as? AccessRules }
}

extension [RulesIssue] {
  /// The errors of rules, in the format of Google's emulator.
  package var compileError: String {
    "Error compiling rules:" + filter(\.isError).map { "\nL\($0.line):\($0.column) \($0.message)" }.joined()
  }
}

/// A request and the rules' decision, for watchers.
package struct RulesEvaluation: Sendable {
  /// The number of the decision, counted from 1.
  package let number: Int
  private let shared: SharedRequest
  package let verdict: RulesVerdict
  /// The duration of the decision.
  package let time: Duration
  private let ruleset: Ruleset

  init(number: Int, request: SharedRequest, verdict: RulesVerdict, time: Duration, ruleset: Ruleset) {
    (self.number, self.verdict, self.time, self.ruleset) = (number, verdict, time, ruleset)
    shared = request
  }

  package var request: RulesRequest { shared.value }
  /// The rules that made the decision.
  package var files: [RulesFile] { ruleset.files }

  /// The text of the statement that had the outcome, on one line.
  package func statement(of outcome: RulesOutcome) -> String? { ruleset.statement(of: outcome) }
}

/// The last decisions.
struct PastEvaluations {
  /// The number of decisions that are stored for later watchers.
  static let most = 50

  private struct Past {
    let number: Int
    let method: RulesRequest.Method
    let database: DatabaseID
    let path: ResourcePath
    let user: RulesUser?
    let time: Timestamp
    let isAllowed: Bool
    let decidingLine: Int?
    let denial: String
    let assumed: [String]?
    let outcomes: [RulesOutcome]
    let duration: Duration
    let ruleset: Ruleset
    /// The whole request. To save memory, an allowed request with documents is not stored if there are no watchers.
    let whole: SharedRequest?

    var evaluation: RulesEvaluation {
      let request = RulesRequest(method: method, database: database, path: path, user: user, time: time)
      return RulesEvaluation(
        number: number, request: whole ?? SharedRequest(request),
        verdict: RulesVerdict(
          isAllowed: isAllowed, outcomes: outcomes, decidingLine: decidingLine, denial: denial, assumed: assumed),
        time: duration, ruleset: ruleset)
    }
  }

  private var ring: [Past] = []
  /// The total number of decisions.
  private(set) var count = 0
  /// The value of `count` when decisions were last requested.
  private var lastAsked: Int?

  /// Whether a client has recently requested decisions, and will therefore probably request the next ones.
  var areAskedFor: Bool { lastAsked.map { count - $0 < Self.most } ?? false }

  mutating func noteAsked() { lastAsked = count }

  /// - Parameter isWatched: whether there is a watcher now.
  mutating func append(
    _ request: SharedRequest, _ verdict: RulesVerdict, _ time: Duration, _ ruleset: Ruleset, isWatched: Bool
  ) {
    // A list request contains only its query, which is small. Rejected requests are stored because users look for them.
    let isWhole = isWatched || !verdict.isAllowed || request.value.method.isList
    let past = Past(
      number: count + 1, method: request.value.method, database: request.value.database, path: request.value.path,
      user: request.value.user, time: request.value.time, isAllowed: verdict.isAllowed,
      decidingLine: verdict.decidingLine, denial: verdict.denial, assumed: verdict.assumed, outcomes: verdict.outcomes,
      duration: time,
      ruleset: ruleset,
      whole: isWhole ? request : nil)
    if ring.count < Self.most { ring.append(past) } else { ring[count % Self.most] = past }
    count += 1
  }

  /// The stored decisions, oldest first.
  var inOrder: [RulesEvaluation] {
    let start = ring.count < Self.most ? 0 : count % Self.most
    return (ring[start...] + ring[..<start]).map(\.evaluation)
  }
}

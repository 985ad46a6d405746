// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreRules

/// A request on which rules have decided, for watchers.
package struct RulesEvaluation: Sendable {
  /// The number of the decision, counted from 1 in the order in which decisions were made.
  package let number: Int
  private let shared: SharedRequest
  package let verdict: RulesVerdict
  /// The time that the decision took.
  package let time: Duration
  private let ruleset: Ruleset

  init(number: Int, request: SharedRequest, verdict: RulesVerdict, time: Duration, ruleset: Ruleset) {
    (self.number, self.verdict, self.time, self.ruleset) = (number, verdict, time, ruleset)
    shared = request
  }

  package var request: RulesRequest { shared.value }
  /// The rules that decided.
  package var files: [RulesFile] { ruleset.files }

  /// The text of the statement that an outcome is about, on one line.
  package func statement(of outcome: RulesOutcome) -> String? { ruleset.statement(of: outcome) }
}

/// The last decisions.
struct PastEvaluations {
  /// The number of decisions that are kept for watchers who begin later.
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
    let outcomes: [RulesOutcome]
    let duration: Duration
    let ruleset: Ruleset
    /// The whole request, unless it was allowed while there were no watchers: documents take memory.
    let whole: SharedRequest?

    var evaluation: RulesEvaluation {
      let request = RulesRequest(method: method, database: database, path: path, user: user, time: time)
      return RulesEvaluation(
        number: number, request: whole ?? SharedRequest(request),
        verdict: RulesVerdict(isAllowed: isAllowed, outcomes: outcomes, decidingLine: decidingLine, denial: denial),
        time: duration, ruleset: ruleset)
    }
  }

  private var ring: [Past] = []
  /// The number of all decisions so far.
  private(set) var count = 0
  /// The number of decisions when they were last asked for.
  private var lastAsked: Int?

  /// Whether someone has asked for decisions of late, and so is likely to ask for the next ones too.
  var areAskedFor: Bool { lastAsked.map { count - $0 < Self.most } ?? false }

  mutating func noteAsked() { lastAsked = count }

  /// - Parameter isWatched: whether there is a watcher now.
  mutating func append(
    _ request: SharedRequest, _ verdict: RulesVerdict, _ time: Duration, _ ruleset: Ruleset, isWatched: Bool
  ) {
    // A list request consists of its query alone, and a denial is worth its memory, because users look for it.
    let isWhole = isWatched || !verdict.isAllowed || request.value.method.isList
    let past = Past(
      number: count + 1, method: request.value.method, database: request.value.database, path: request.value.path,
      user: request.value.user, time: request.value.time, isAllowed: verdict.isAllowed,
      decidingLine: verdict.decidingLine, denial: verdict.denial, outcomes: verdict.outcomes, duration: time,
      ruleset: ruleset,
      whole: isWhole ? request : nil)
    if ring.count < Self.most { ring.append(past) } else { ring[count % Self.most] = past }
    count += 1
  }

  /// The kept decisions, the oldest first.
  var inOrder: [RulesEvaluation] {
    let start = ring.count < Self.most ? 0 : count % Self.most
    return (ring[start...] + ring[..<start]).map(\.evaluation)
  }
}

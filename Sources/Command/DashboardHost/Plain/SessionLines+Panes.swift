// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel

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

  /// The decisions that are known, oldest first, in the names of the server's own account of them.
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

  /// A request that was decided on just now.
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

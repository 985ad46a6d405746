// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreRules
import FirestoreService

/// A request that rules have decided on, as the emulator's monitor tells it (PROTOCOL §5.2).
enum MonitoredRequest {
  static func json(_ evaluation: RulesEvaluation) -> JSONSyntax {
    let (request, verdict) = (evaluation.request, evaluation.verdict)
    let time = JSONSyntax(.string(request.time.rfc3339Text))
    return object([
      ("requestId", text("request-\(evaluation.number)")),
      ("rules", text(evaluation.files.map(\.content).joined(separator: "\n"))),
      ("time", time),
      (
        "rulesContext",
        object([
          ("path", text("/" + path(request).joined(separator: "/"))),
          ("request", self.request(request)),
          ("method", text(request.method.rawValue)),
          ("resource", resource(request.resource, in: request.database)),
          ("time", time),
        ])
      ),
      ("granularAllowOutcomes", JSONSyntax(.array(verdict.outcomes.map(outcome)))),
      ("outcome", text(verdict.isAllowed ? "allow" : "deny")),
      // Google's emulator does not tell these.
      ("milliseconds", DecisionJSON.milliseconds(of: evaluation)),
      ("statements", DecisionJSON.statements(of: evaluation)),
    ])
  }

  private static func path(_ request: RulesRequest) -> [String] {
    ["databases", request.database.database, "documents"]
      + request.path.text.split(separator: "/").map(String.init) + (request.method == .list ? ["*"] : [])
  }

  private static func request(_ request: RulesRequest) -> JSONSyntax {
    var members = [
      ("method", RulesValueJSON.of(.string(request.method.rawValue))),
      ("path", RulesValueJSON.path(path(request))),
      ("time", RulesValueJSON.of(.timestamp(request.time))),
      (
        "auth",
        request.user.map { user in
          RulesValueJSON.of(.map(["uid": .string(user.uid), "token": .map(user.claims)]))
        } ?? RulesValueJSON.of(.null)
      ),
    ]
    if request.method == .create || request.method == .update {
      members.append(("resource", resource(request.newResource, in: request.database)))
    }
    if let query = request.query {
      let order = query.explicitOrderBy.map { order in
        (order.path.canonicalText, RulesValueJSON.of(.string(order.direction == .descending ? "DESC" : "ASC")))
      }
      let limit = query.target.limit.map { Value.integer(Int64($0)) } ?? .null
      members.append(
        (
          "query",
          RulesValueJSON.map([
            ("limit", RulesValueJSON.of(limit)), ("offset", RulesValueJSON.of(.integer(Int64(query.offset)))),
            ("orderBy", RulesValueJSON.map(order)),
          ])
        ))
    }
    return RulesValueJSON.map(members)
  }

  private static func resource(_ document: Document?, in database: DatabaseID) -> JSONSyntax {
    guard let document, let fields = document.data?.fields else { return object([("undefined", object([]))]) }
    return RulesValueJSON.map([
      ("data", RulesValueJSON.of(.map(fields))), ("id", RulesValueJSON.of(.string(document.key.documentID))),
      ("__name__", RulesValueJSON.of(.reference(database, document.key))),
    ])
  }

  private static func outcome(_ outcome: RulesOutcome) -> JSONSyntax {
    let result: JSONSyntax =
      switch outcome.result {
      case .isTrue: JSONSyntax(.boolean(true))
      case .isFalse: JSONSyntax(.boolean(false))
      case .failed(let message, let line, let column): text("\(message) (L\(line):\(column))")
      }
    return object([("line", JSONSyntax(.integer(Int64(outcome.line)))), ("outcome", result)])
  }

  private static func text(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }

  private static func object(_ members: [(String, JSONSyntax)]) -> JSONSyntax {
    JSONSyntax(.object(members.map { JSONSyntax.Member($0.0, $0.1) }))
  }
}

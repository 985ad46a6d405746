// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOptions
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreGRPC
import FirestoreJSON
import FirestoreModel

extension ClientBridge {
  /// Requests the decisions of the server's security rules and reports them.
  /// - Parameter known: the number of the newest known decision. Nothing is reported if there are no newer decisions,
  ///   or while another request is pending.
  /// - Returns: a task that ends when the decisions were reported; `nil` if the result was reported immediately or
  ///   there is no request.
  @discardableResult
  func listDecisions(after known: Int?) -> Task<Void, Never>? {
    if known != nil, isListingDecisions { return nil }
    guard let control else {
      emit(.decisions(.failure(RPCStatus(.unimplemented, "This backend has no rules."))))
      return nil
    }
    let project = transferPlace.database.project
    isListingDecisions = true
    return request { bridge in
      defer { bridge.isListingDecisions = false }
      if let result = await control.decisions(of: project, after: known) { bridge.emit(.decisions(result)) }
    }
  }
}

extension EmulatorControl {
  /// Requests the decisions of the server's security rules.
  /// - Returns: the decisions whose number is larger than `known`; `nil` if there are none. If the server has restarted
  ///   its numbers, returns all decisions.
  func decisions(of project: String, after known: Int?) async -> Result<[RuleDecision], RPCStatus>? {
    do throws(RPCStatus) {
      let decisions = try DecisionsReader.decisions(in: try await get("/emulator/v1/projects/\(project):requests"))
      guard let known else { return .success(decisions) }
      let newest = decisions.map(\.number).max() ?? 0
      if newest == known { return nil }
      // Known decisions are not reported or logged again.
      return .success(newest > known ? decisions.filter { $0.number > known } : decisions)
    } catch { return .failure(error) }
  }
}

/// Parses the server's response to `…:requests`.
enum DecisionsReader {
  /// - Throws: `internal` for an invalid response, `failed-precondition` if the server has no rules.
  static func decisions(in body: [UInt8]) throws(RPCStatus) -> [RuleDecision] {
    guard let text = String(validating: body, as: UTF8.self),
      let json = try? JSONSyntax(parsing: text), case .array(let requests)? = json["requests"]?.kind
    else { throw RPCStatus(.internal, "The server reports its requests in an unknown format.") }
    // Earlier servers did not report it.
    if case .boolean(false)? = json["rules"]?.kind {
      throw RPCStatus(
        .failedPrecondition, "This server has no rules to evaluate. Start it with 'hearth serve --rules FILE'.")
    }
    return requests.compactMap { request in
      guard case .integer(let number)? = request["number"]?.kind, case .string(let method)? = request["method"]?.kind,
        case .string(let path)? = request["path"]?.kind, case .boolean(let isAllowed)? = request["allowed"]?.kind,
        case .string(let time)? = request["time"]?.kind, let time = Timestamp(rfc3339: time)
      else { return nil }
      var decision = RuleDecision(
        number: Int(number), time: time, method: method, path: ResourcePath(path), user: nil, isAllowed: isAllowed,
        line: nil)
      if case .string(let user)? = request["user"]?.kind { decision.user = user }
      if case .integer(let line)? = request["line"]?.kind { decision.line = Int(line) }
      if case .string(let reason)? = request["reason"]?.kind { decision.reason = reason }
      decision.milliseconds = request["milliseconds"]?.number
      if case .array(let statements)? = request["statements"]?.kind {
        decision.statements = statements.compactMap(statement)
      }
      return decision
    }
  }

  private static func statement(_ json: JSONSyntax) -> RuleDecision.Statement? {
    guard case .integer(let line)? = json["line"]?.kind else { return nil }
    var statement = RuleDecision.Statement(line: Int(line), text: json["text"]?.string ?? "", isTrue: nil)
    switch json["result"]?.string {
    case "true": statement.isTrue = true
    case "false": statement.isTrue = false
    default: statement.message = json["message"]?.string ?? ""
    }
    if case .array(let values)? = json["values"]?.kind {
      statement.values = values.compactMap { value in
        guard let expression = value["expression"]?.string else { return nil }
        if let failure = value["error"]?.string {
          return RuleDecision.SeenValue(expression, failure, isFailure: true)
        }
        return value["value"]?.string.map { RuleDecision.SeenValue(expression, $0) }
      }
    }
    return statement
  }
}

extension JSONSyntax {
  fileprivate var string: String? { if case .string(let text) = kind { text } else { nil } }

  fileprivate var number: Double? {
    switch kind {
    case .double(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
import Dashboard
import DashboardModel
import FirestoreClientState
package import FirestoreGRPC
import FirestoreJSON
import FirestoreModel

extension ClientBridge {
  /// Asks the server what its rules have decided.
  /// - Parameter known: nothing is answered if the newest has this number, or while another question waits.
  func listDecisions(after known: Int?) {
    if known != nil, isListingDecisions { return }
    guard let control else {
      return emit(.decisions(.failure(RPCStatus(.unimplemented, "This backend has no rules to tell of."))))
    }
    let project = transferPlace.database.project
    isListingDecisions = true
    request { bridge in
      defer { bridge.isListingDecisions = false }
      let result: ClientEvent.DecisionsResult
      do throws(RPCStatus) {
        let body = try await control.get("/emulator/v1/projects/\(project):requests")
        result = .success(try DecisionsReader.decisions(in: body))
      } catch { result = .failure(error) }
      if let known, case .success(let decisions) = result, decisions.map(\.number).max() ?? 0 == known { return }
      bridge.emit(.decisions(result))
    }
  }
}

extension EmulatorControl {
  package init(_ remote: RemoteBackend) {
    self.init(remote.endpoint, remote.credentials, isTrusting: remote.allowsInsecureCredentials)
  }

  /// `nil` for backends that are no emulators.
  package init?(of backend: BackendChoice) {
    guard case .remote(let remote) = backend, !remote.endpoint.isGoogle else { return nil }
    self.init(remote)
  }
}

/// Reads the answer of `…:requests`.
enum DecisionsReader {
  /// - Throws: `internal` for what is none.
  static func decisions(in body: [UInt8]) throws(RPCStatus) -> [RuleDecision] {
    guard let text = String(validating: body, as: UTF8.self),
      let json = try? JSONSyntax(parsing: text), case .array(let requests)? = json["requests"]?.kind
    else { throw RPCStatus(.internal, "The server tells its requests in a way that is not known here.") }
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
      return decision
    }
  }
}

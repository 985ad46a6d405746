// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreModel
import FirestoreService

/// Performs a `ControlRequest`.
struct ControlWork: Sendable {
  private let service: FirestoreService
  private let origins: ControlOrigins
  private var isLoopback: Bool { origins.isLoopback }

  init(_ service: FirestoreService, _ origins: ControlOrigins) {
    self.service = service
    self.origins = origins
  }

  /// The reason why a caller may not control the server; `nil` for a caller who may.
  func refusal(of authorization: String?) -> RPCStatus? {
    do throws(RPCStatus) { try check(authorization) } catch { return error }
    return nil
  }

  /// Lets callers on this machine do everything, unless there are keys: then their address proves nothing, since other
  /// users of the machine, its containers and requests through a proxy come from here as well. A caller elsewhere has
  /// to be an administrator if there are rules.
  func check(_ authorization: String?) throws(RPCStatus) {
    guard let rules = service.securityRules, rules.asksForProof || (!isLoopback && service.isRestricted) else { return }
    if try rules.caller(authorization) == .owner { return }
    throw RPCStatus(
      .permissionDenied,
      rules.asksForProof
        ? "Only an administrator controls the server: send the secret of its --admin-secret as 'Authorization: Bearer "
          + "SECRET'."
        : "From another machine only an administrator controls the server.")
  }

  /// Refuses requests from elsewhere that concern the machine or lock others out, not only data, unless rules tell who
  /// is an administrator.
  private func checkMachine() throws(RPCStatus) {
    if !isLoopback, !service.isRestricted {
      throw RPCStatus(.permissionDenied, "From another machine that needs an administrator: serve with --rules FILE.")
    }
  }

  private func stop() throws(RPCStatus) {
    guard let stop = origins.stop else {
      throw RPCStatus(
        .failedPrecondition, "This server is part of another program, and ends with it.")
    }
    // The answer is sent before the server ends.
    stop()
  }

  private func rules(of project: String) throws(RPCStatus) -> RulesControl {
    if let rules = service.securityRules { return RulesControl(rules, of: project) }
    throw RPCStatus(.unimplemented, "Rules are not enforced between the processes that share data.")
  }

  func answer(_ control: ControlRequest, _ body: [UInt8], to request: PlainRequest) async -> HTTPAnswer {
    do throws(RPCStatus) {
      try check(request.authorization)
      switch control {
      case .delete(let path, let database):
        try await service.deleteDocuments(below: path, in: database)
        return HTTPAnswer(200, "{}\n")
      case .rules(let project): return try rules(of: project).current()
      case .release(let name, let project): return try rules(of: project).release(name)
      case .ruleset(let project): return try rules(of: project).released()
      case .setRules(let project):
        try checkMachine()
        return try rules(of: project).replace(body)
      case .requests(let project): return try rules(of: project).requests()
      case .coverage(let project): return try rules(of: project).coverage()
      case .coveragePage(let project): return try rules(of: project).coveragePage()
      case .indexes(let project):
        let seen = service.indexes?.seen(in: project) ?? []
        return HTTPAnswer(200, json: Array(ServedIndexes.configuration(seen).utf8))
      case .export:
        try checkMachine()
        return try await ExportControl(service).answer(body)
      case .reset:
        try await service.deleteEverything()
        return HTTPAnswer(200, "Resetting...\n")
      case .shutDown:
        try checkMachine()
        try stop()
        return HTTPAnswer(200, "Shutting down...\n")
      }
    } catch { return HTTPAnswer(error, to: request) }
  }
}

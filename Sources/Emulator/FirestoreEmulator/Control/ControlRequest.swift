// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreModel
import FirestoreREST
import FirestoreService

/// A request to control an emulator. Its path is below `/emulator/v1/projects/`, or it is one of two paths with one
/// segment.
enum ControlRequest: Equatable {
  /// Deletes everything below a path: the whole database, a collection or a document with all documents below it.
  case delete(below: ResourcePath, DatabaseID)
  /// The security rules of a project.
  case rules(project: String)
  case setRules(project: String)
  /// The release of a project's rules in google.firebase.rules.v1, which contains the name of a ruleset.
  case release(name: String, project: String)
  /// The only ruleset of a project.
  case ruleset(project: String)
  /// The coverage of the rules.
  case coverage(project: String)
  /// The coverage as an HTML page.
  case coveragePage(project: String)
  /// The last requests that the rules have decided.
  case requests(project: String)
  /// The composite indexes that the queries so far have needed.
  case indexes(project: String)
  /// Exports a database into a folder in Google's format.
  case export
  /// Empties every database.
  case reset
  /// Ends the server.
  case shutDown

  /// The prefix of the paths for a project.
  static let root = "/emulator/v1/projects/"

  /// - Parameter target: the target of the request as received, including the query.
  /// - Returns: `nil` for an unknown request.
  init?(_ method: String, _ target: String) {
    let path = target.prefix { $0 != "?" && $0 != "#" }
    var parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
      PercentEncoding.decoded($0)
    }
    if parts.last == "" { parts.removeLast() }
    if method == "POST", parts == ["shutdown"] || parts == ["reset"] {
      self = parts == ["reset"] ? .reset : .shutDown
      return
    }
    guard parts.count >= 4, parts[0] == "emulator", parts[1] == "v1", parts[2] == "projects", !parts[3].isEmpty else {
      return nil
    }
    guard let request = parts.count == 4 ? Self.custom(method, parts[3]) : Self.delete(method, parts) else {
      return nil
    }
    self = request
  }

  /// Parses a path of google.firebase.rules.v1: `projects/P/releases/cloud.firestore`, optionally followed by a
  /// database, or `projects/P/rulesets/current`.
  /// - Returns: `nil` for any other path.
  init?(rulesOf target: String, _ method: String) {
    let path = target.prefix { $0 != "?" && $0 != "#" }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
      PercentEncoding.decoded($0)
    }
    guard method == "GET", parts.count >= 5, parts[0] == "v1", parts[1] == "projects", !parts[2].isEmpty else {
      return nil
    }
    switch (parts[3], parts[4]) {
    case ("releases", "cloud.firestore") where parts.count <= 6:
      self = .release(name: parts.dropFirst().joined(separator: "/"), project: parts[2])
    case ("rulesets", Self.rulesetID) where parts.count == 5: self = .ruleset(project: parts[2])
    default: return nil
    }
  }

  /// The id of the current ruleset.
  static let rulesetID = "current"

  /// Parses `PROJECT:securityRules` and similar paths. A project's id may contain colons.
  private static func custom(_ method: String, _ part: String) -> ControlRequest? {
    guard let colon = part.lastIndex(of: ":"), case let project = String(part[..<colon]), !project.isEmpty else {
      return nil
    }
    return switch (method, part[colon...]) {
    case ("GET", ":securityRules"): .rules(project: project)
    case ("PUT", ":securityRules"): .setRules(project: project)
    case ("GET", ":ruleCoverage"): .coverage(project: project)
    case ("GET", ":ruleCoverage.html"): .coveragePage(project: project)
    case ("GET", ":requests"): .requests(project: project)
    case ("GET", ":indexes"): .indexes(project: project)
    // The body contains the database, as for Google's emulator.
    case ("POST", ":export"): .export
    default: nil
    }
  }

  private static func delete(_ method: String, _ parts: [String]) -> ControlRequest? {
    guard method == "DELETE", parts.count >= 7, parts[4] == "databases", parts[6] == "documents", !parts[5].isEmpty,
      parts.dropFirst(7).allSatisfy({ !$0.isEmpty && !$0.contains("/") })
    else { return nil }
    return .delete(
      below: ResourcePath(parts.dropFirst(7).joined(separator: "/")),
      DatabaseID(project: parts[3], database: parts[5]))
  }
}

/// Performs a `ControlRequest`.
struct ControlWork: Sendable {
  private let service: FirestoreService
  private let origins: ControlOrigins
  private var isLoopback: Bool { origins.isLoopback }

  init(_ service: FirestoreService, _ origins: ControlOrigins) {
    self.service = service
    self.origins = origins
  }

  /// The reason why a caller may not control the server; `nil` for a caller with permission.
  func refusal(of authorization: String?) -> RPCStatus? {
    do throws(RPCStatus) { try check(authorization) } catch { return error }
    return nil
  }

  /// Rejects callers without permission. Without keys, callers on this machine may do everything; with rules, a remote
  /// caller must be an administrator. With keys, every caller must be an administrator, because a local address then
  /// proves nothing: other users, containers and proxied requests have it too.
  func check(_ authorization: String?) throws(RPCStatus) {
    guard let rules = service.securityRules, rules.asksForProof || (!isLoopback && service.isRestricted) else { return }
    if try rules.caller(authorization) == .owner { return }
    throw RPCStatus(
      .permissionDenied,
      rules.asksForProof
        ? "Only an administrator can control the server. Send the secret of its --admin-secret as 'Authorization: Bearer "
          + "SECRET'."
        : "From another machine only an administrator can control the server.")
  }

  /// Rejects remote requests that affect the machine or lock out other users, unless rules identify administrators.
  /// Requests that affect only data are not checked here.
  private func checkMachine() throws(RPCStatus) {
    if !isLoopback, !service.isRestricted {
      throw RPCStatus(.permissionDenied, "From another machine this needs an administrator. Serve with --rules FILE.")
    }
  }

  /// Rejects requests to clear the data of a server that is not only for tests.
  func checkClearing() throws(RPCStatus) {
    guard origins.protectsData else { return }
    throw RPCStatus(
      .permissionDenied,
      "This server serves its user's local data and does not clear it. Serve without --local, or with --allow-reset.")
  }

  private func stop() throws(RPCStatus) {
    guard let stop = origins.stop else {
      throw RPCStatus(
        .failedPrecondition, "This server is part of another program, and stops when that program ends.")
    }
    // The server sends the response before it ends.
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
        try checkClearing()
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
        try checkClearing()
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

// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreModel
import FirestoreREST
import FirestoreService

/// A request to control an emulator: below `/emulator/v1/projects/`, and two paths of one word.
enum ControlRequest: Equatable {
  /// Deletes everything below a path: the whole database, a collection or a document with all documents below it.
  case delete(below: ResourcePath, DatabaseID)
  /// The security rules of a project.
  case rules(project: String)
  case setRules(project: String)
  /// The release of a project's rules as google.firebase.rules.v1 tells it, which names a ruleset.
  case release(name: String, project: String)
  /// The only ruleset of a project.
  case ruleset(project: String)
  /// The coverage counted for the rules.
  case coverage(project: String)
  /// The coverage as a page to look at.
  case coveragePage(project: String)
  /// The last requests that the rules decided on.
  case requests(project: String)
  /// The composite indexes that the queries seen so far need.
  case indexes(project: String)
  /// Exports a database into a folder in Google's format.
  case export
  /// Empties every database.
  case reset
  /// Ends the server.
  case shutDown

  /// The beginning of the addresses that concern a project.
  static let root = "/emulator/v1/projects/"

  /// - Parameter target: the request's target as it came, query included.
  /// - Returns: `nil` for a request that means nothing here.
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

  /// Reads an address of google.firebase.rules.v1: `projects/P/releases/cloud.firestore`, with a database behind it or not,
  /// or `projects/P/rulesets/current`.
  /// - Returns: `nil` for another address.
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

  /// The id of the ruleset that is in force.
  static let rulesetID = "current"

  /// Reads `PROJECT:securityRules` and its like; a project's id may contain colons.
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
    // The body names the database, as at Google's emulator.
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

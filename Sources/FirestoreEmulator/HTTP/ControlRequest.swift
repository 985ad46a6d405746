// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST

/// A request to what controls an emulator: below `/emulator/v1/projects/`, and two of one word.
enum ControlRequest: Equatable {
  /// Everything below a path: the whole database, a collection or a document with what lies below it.
  case delete(below: ResourcePath, DatabaseID)
  /// The security rules of a project.
  case rules(project: String)
  case setRules(project: String)
  /// What was counted for them.
  case coverage(project: String)
  /// The same as a page to look at.
  case coveragePage(project: String)
  /// What they decided last.
  case requests(project: String)
  /// The composite indexes that the queries seen so far need.
  case indexes(project: String)
  /// A database into a folder in Google's format.
  case export
  /// Every database is emptied.
  case reset
  /// The server ends.
  case shutDown

  /// With which the addresses of what concerns a project begin.
  static let root = "/emulator/v1/projects/"

  /// - Parameter target: as it came, with what follows `?`.
  /// - Returns: `nil` for what means nothing here.
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

  /// `PROJECT:securityRules`; a project's id may contain colons.
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
    // The database is named in the body, as at Google's emulator.
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

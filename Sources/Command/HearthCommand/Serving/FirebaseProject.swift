// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreJSON
import Foundation

/// Firestore's settings in `firebase.json` and `.firebaserc`. Paths are relative to the folder that contains
/// `firebase.json`.
struct FirebaseProject: Hashable, Sendable {
  /// The rules and index files of one database.
  struct Database: Hashable, Sendable {
    var id = "(default)"
    var rules: String?
    var indexes: String?
  }

  static let fileName = "firebase.json"

  /// The path of `firebase.json`.
  let file: String
  private(set) var databases: [Database] = []
  private(set) var host: String?
  private(set) var port: Int?
  /// The project names in `.firebaserc`, by alias.
  private(set) var projects: [String: String] = [:]
  /// The products and emulators that Hearth does not serve.
  private(set) var others: [String] = []

  /// - Parameter config: the path of the file; `nil` for the file in the working directory, if it exists.
  /// - Returns: `nil` if no file is named and the default file does not exist.
  static func read(_ config: String?) throws(CommandFailure) -> FirebaseProject? {
    if config == nil, !FileManager.default.fileExists(atPath: fileName) { return nil }
    return try FirebaseProject(config ?? fileName)
  }

  init(_ file: String) throws(CommandFailure) {
    self.file = file
    let folder = URL(filePath: file).deletingLastPathComponent()
    let root = try Self.syntax(of: file)
    do throws(JSONError) {
      try read(root) { name in
        name.hasPrefix("/") ? name : file.contains("/") ? folder.appending(path: name).relativePath : name
      }
    } catch { throw Self.failure(file, error) }
    let settings = file.contains("/") ? folder.appending(path: ".firebaserc").relativePath : ".firebaserc"
    guard FileManager.default.fileExists(atPath: settings) else { return }
    let aliases = try Self.syntax(of: settings)["projects"]
    guard case .object(let members)? = aliases?.kind else { return }
    for member in members {
      if case .string(let project) = member.value.kind { projects[member.name] = project }
    }
  }

  /// The project with an alias or a name. With `nil`, the default project.
  func project(_ name: String?) -> String? { name.map { projects[$0] ?? $0 } ?? projects["default"] }

  // MARK: Reading

  private mutating func read(_ root: JSONSyntax, path: (String) -> String) throws(JSONError) {
    var names: [String] = []
    for member in try Self.members(root, "The file") {
      switch member.name {
      case "firestore":
        if case .array(let elements) = member.value.kind {
          for element in elements { databases.append(try Self.database(element, path)) }
        } else {
          databases = [try Self.database(member.value, path)]
        }
      case "emulators": names += try readEmulators(member.value)
      case "$schema": break
      default: names.append(member.name)
      }
    }
    for name in names where !others.contains(name) { others.append(name) }
  }

  /// - Returns: the emulators that Hearth does not serve.
  private mutating func readEmulators(_ syntax: JSONSyntax) throws(JSONError) -> [String] {
    var others: [String] = []
    for emulator in try Self.members(syntax, "\"emulators\"") {
      switch emulator.name {
      case "firestore":
        host = try Self.text(emulator.value["host"], "\"host\"")
        guard let number = emulator.value["port"] else { break }
        guard case .integer(let value) = number.kind, (0...65_535).contains(value) else {
          throw number.error("\"port\" must be a number from 0 to 65535.")
        }
        port = Int(value)
      case "hub", "logging", "singleProjectMode", "eventarc", "tasks", "ui": break
      default: others.append(emulator.name)
      }
    }
    return others
  }

  private static func database(_ syntax: JSONSyntax, _ path: (String) -> String) throws(JSONError) -> Database {
    _ = try members(syntax, "\"firestore\"")
    var database = Database()
    database.id = try text(syntax["database"], "\"database\"") ?? database.id
    database.rules = try text(syntax["rules"], "\"rules\"").map(path)
    database.indexes = try text(syntax["indexes"], "\"indexes\"").map(path)
    return database
  }

  private static func members(_ syntax: JSONSyntax, _ name: String) throws(JSONError) -> [JSONSyntax.Member] {
    guard case .object(let members) = syntax.kind else {
      throw syntax.error("\(name) must be an object, not \(syntax.kindName).")
    }
    return members
  }

  private static func text(_ syntax: JSONSyntax?, _ name: String) throws(JSONError) -> String? {
    guard let syntax else { return nil }
    guard case .string(let text) = syntax.kind, !text.isEmpty else { throw syntax.error("\(name) must be a string.") }
    return text
  }

  private static func syntax(of file: String) throws(CommandFailure) -> JSONSyntax {
    let text = try ServedFile(file, of: "settings").text()
    do throws(JSONError) { return try JSONSyntax.commented(text).value } catch { throw failure(file, error) }
  }

  private static func failure(_ file: String, _ error: JSONError) -> CommandFailure {
    CommandFailure(.badData, "\(file):\(error.line):\(error.column): \(error.reason)")
  }
}

extension ServeOptions {
  /// Sets omitted options from `firebase.json`, and reports them on one line.
  /// - Throws: `CommandFailure` if the file cannot be read, or if `--require-indexes` has no value and `firebase.json`
  ///   names no index file.
  mutating func complete(from project: FirebaseProject?) throws(CommandFailure) {
    // A bare option, or its long form.
    let asksForIndexes = access.requireIndexes == FirebaseProject.fileName
    if asksForIndexes { access.requireIndexes = project?.databases.lazy.compactMap(\.indexes).first }
    if asksForIndexes, access.requireIndexes == nil {
      throw CommandFailure(
        .usage,
        "--require-indexes needs a file, because \(config ?? FirebaseProject.fileName) names none."
      )
    }
    guard let project else { return }
    var adopted: [String] = []
    if access.rules == nil, !access.open { adopted += adoptRules(of: project) }
    if emulator.hostPort == nil {
      if host == nil, let named = project.host {
        host = named
        adopted.append("host \(named)")
      }
      if port == nil, let named = project.port {
        port = named
        adopted.append("port \(named)")
      }
    }
    let name = project.project(emulator.projectID)
    if let name, name != emulator.projectID { adopted.append("project \(name)") }
    emulator.projectID = name
    var remark = adopted.isEmpty ? "" : " sets \(adopted.formatted(.list(type: .and).locale(Self.english)))."
    if !project.others.isEmpty {
      let others = project.others.formatted(.list(type: .and).locale(Self.english))
      remark += "\(adopted.isEmpty ? "" : " It also") has \(others), which Hearth does not serve."
    }
    if !remark.isEmpty { StandardError.write("hearth: \(project.file)\(remark)") }
  }

  private static let english = Locale(identifier: "en_US")

  private mutating func adoptRules(of project: FirebaseProject) -> [String] {
    let rules = project.databases.compactMap { database in database.rules.map { (database.id, $0) } }
    if project.databases.count == 1, let (_, file) = rules.first {
      // A single entry holds for all databases, as in Google's emulator.
      access.rules = file
      return ["rules \(file)"]
    }
    for (database, file) in rules { access.databaseRules[database] = file }
    return rules.map { "rules \($1) for \($0)" }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import FirestoreGRPC
import FirestoreModel
import Foundation
import Glibc
import Spelling
import TOMLReading
import TerminalTheme

/// The file `connections.toml`, with named connections for every command and the dashboard.
package struct ConnectionsFile: Hashable, Sendable {
  package struct Problem: Hashable, Sendable {
    /// The connection with the error; `nil` if the whole file is invalid.
    var connection: String?
    /// The message, in the form `file:line: reason`.
    package var text: String
  }

  /// The valid connections in the order of the file.
  package private(set) var connections: [NamedConnection] = []
  package private(set) var problems: [Problem] = []
  /// The file's name in messages.
  package let name: String

  /// The file that replaces the user's file in a test.
  @TaskLocal package static var given: ConnectionsFile?

  /// Reads the user's file; a missing file has no connections.
  package static func read(_ paths: Paths) -> ConnectionsFile {
    if let given { return given }
    let (path, name) = (paths.connectionsFile, paths.short(paths.connectionsFile))
    guard let data = FileManager.default.contents(atPath: path) else {
      var status = stat()
      if stat(path, &status) != 0, errno == ENOENT { return ConnectionsFile("", name: name, folder: "/", home: "/") }
      return ConnectionsFile(unusable: "\(name): cannot be read", name: name)
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      return ConnectionsFile(unusable: "\(name): is not UTF-8 text", name: name)
    }
    return ConnectionsFile(text, name: name, folder: OutputPlace.split(path).folder, home: paths.home)
  }

  /// A file that contains a single connection.
  package init(of connection: NamedConnection) {
    name = connection.place
    connections = [connection]
  }

  private init(unusable reason: String, name: String) {
    self.name = name
    problems = [Problem(text: reason)]
  }

  /// Parses the text of the file. If the TOML is invalid, the whole file is rejected, because an ignored line could be
  /// the line that forbids writing.
  /// - Parameters:
  ///   - folder: the folder to which relative paths are relative.
  ///   - home: the folder that replaces `~/`.
  package init(_ text: String, name: String, folder: String, home: String) {
    self.name = name
    let table: TOMLTable
    do throws(TOMLError) { table = try TOMLTable(parsing: text) } catch {
      problems = [Problem(text: "\(name):\(error.line): \(error)")]
      return
    }
    let lines = SourceLines(text)
    var found: [(line: Int, connection: NamedConnection?, problem: Problem?)] = []
    for key in table.keys {
      let line = lines.line(of: key, in: nil) ?? 1
      guard let entries = table[key]?.table else {
        let reason = "\(key) is outside a connection; write a [NAME] line before it"
        found.append((line, nil, Problem(text: "\(name):\(line): \(reason)")))
        continue
      }
      var reader = ConnectionReader(key, entries, lines, place: "\(name):\(line)", folder: folder, home: home)
      do throws(ConnectionReader.Refusal) {
        found.append((line, try reader.read(), nil))
      } catch {
        let text = "\(name):\(error.line ?? line): [\(key)] \(error.reason)"
        found.append((error.line ?? line, nil, Problem(connection: key, text: text)))
      }
    }
    found.sort { $0.line < $1.line }
    connections = found.compactMap(\.connection)
    problems = found.compactMap(\.problem)
  }

  /// Finds the connection with a name.
  /// - Throws: the connection's error. If the name is unknown, the error suggests a similar name.
  package func connection(named wanted: String) throws(CommandFailure) -> NamedConnection {
    if let whole = problems.first(where: { $0.connection == nil }) { throw CommandFailure(.configuration, whole.text) }
    if let found = connections.first(where: { $0.name == wanted }) { return found }
    if let problem = problems.first(where: { $0.connection == wanted }) {
      throw CommandFailure(.configuration, problem.text)
    }
    let names = connections.map(\.name)
    let hint =
      names.isEmpty
      ? "\(name) has no connections. Each connection starts with a [NAME] line."
      : NearestName.suggestion(for: wanted, among: names).map { "Did you mean \($0)?" }
        ?? "Known connections: \(names.joined(separator: ", "))."
    throw CommandFailure(.usage, "unknown connection \"\(wanted)\". \(hint)")
  }
}

/// Reads the keys of one connection.
private struct ConnectionReader {
  struct Refusal: Error {
    var line: Int?
    var reason: String
  }

  private static let keys = [
    "embedded", "data", "emulator", "cloud", "credentials", "host", "trust", "admin-secret", "project", "database",
    "cache",
    "readonly", "production",
  ]

  private let table: TOMLTable
  private let lines: SourceLines
  private let folder: String
  private let home: String
  private var connection: NamedConnection

  init(_ name: String, _ table: TOMLTable, _ lines: SourceLines, place: String, folder: String, home: String) {
    (self.table, self.lines, self.folder, self.home) = (table, lines, folder, home)
    connection = NamedConnection(name: name, place: place)
  }

  mutating func read() throws(Refusal) -> NamedConnection {
    let name = connection.name
    if name.isEmpty || name.contains(where: { $0.isNewline || $0.isWhitespace }) || name.hasPrefix("-") {
      throw Refusal(reason: "a connection name is one word that does not start with a hyphen")
    }
    if let key = table.keys.sorted().first(where: { !Self.keys.contains($0) }) {
      let hint = NearestName.suggestion(for: key, among: Self.keys).map { "did you mean \($0)?" }
      throw refusal(key, "unknown key \"\(key)\"; \(hint ?? "known keys: \(Self.keys.joined(separator: ", "))")")
    }
    connection.isEmbedded = try flag("embedded") ?? false
    connection.isCloud = try flag("cloud") ?? false
    connection.isReadOnly = try flag("readonly") ?? false
    connection.isProduction = try flag("production")
    connection.emulator = try text("emulator")
    connection.host = try text("host")
    connection.project = try text("project")
    connection.database = try text("database")
    connection.data = try path("data")
    connection.cache = try path("cache")
    connection.credentials = try path("credentials")
    connection.trust = try path("trust")
    connection.adminSecret = try path("admin-secret")
    try checkBackends()
    try checkSecret()
    try checkAddress("emulator", connection.emulator, defaultPort: 8080)
    try checkAddress("host", connection.host, defaultPort: 443)
    return connection
  }

  /// Checks that the connection names exactly one backend.
  private func checkBackends() throws(Refusal) {
    let named = connection.backends
    guard let first = named.first else {
      throw Refusal(reason: "no backend; set emulator, cloud, credentials, host, data or embedded = true")
    }
    let places = [["embedded", "data"], ["emulator"], ["cloud", "credentials", "host"]]
    let other = named.first { name in !places.contains { $0.contains(name) && $0.contains(first) } }
    if let other { throw refusal(other, "\(first) and \(other) both name a backend; remove one") }
    if connection.trust != nil, connection.data != nil || connection.isEmbedded {
      throw refusal("trust", "trust needs a TLS backend; also set emulator, host, cloud or credentials")
    }
  }

  private func checkSecret() throws(Refusal) {
    if connection.adminSecret != nil, connection.emulator == nil, connection.host == nil {
      throw refusal("admin-secret", "admin-secret is for 'hearth serve'; also set emulator or host")
    }
  }

  private func checkAddress(_ key: String, _ address: String?, defaultPort: Int) throws(Refusal) {
    guard let address else { return }
    do throws(ModelError) {
      _ = try Endpoint(address, defaultPort: defaultPort, security: .plaintext, from: key)
    } catch {
      throw refusal(key, error.message)
    }
  }

  private func text(_ key: String) throws(Refusal) -> String? {
    guard let value = table[key] else { return nil }
    guard let text = value.string, !text.isEmpty else { throw refusal(key, "\(key) must be text in quotes") }
    return text
  }

  private func flag(_ key: String) throws(Refusal) -> Bool? {
    guard let value = table[key] else { return nil }
    guard let flag = value.bool else { throw refusal(key, "\(key) must be true or false") }
    return flag
  }

  private func path(_ key: String) throws(Refusal) -> String? {
    guard let text = try text(key) else { return nil }
    if text == "~" || text.hasPrefix("~/") { return home + text.dropFirst() }
    return text.hasPrefix("/") ? text : "\(folder)/\(text)"
  }

  private func refusal(_ key: String, _ reason: String) -> Refusal {
    Refusal(line: lines.line(of: key, in: connection.name), reason: reason)
  }
}

/// One connection of `connections.toml`, selected by `--connection NAME`.
package struct NamedConnection: Codable, Hashable, Sendable {
  package var name: String
  /// The position for messages: `connections.toml:3`.
  package var place: String
  /// Whether the backend is embedded. Its data is in the user's default folder, or in the folder that `data` names.
  package var isEmbedded = false
  package var data: String?
  package var emulator: String?
  package var isCloud = false
  package var credentials: String?
  package var host: String?
  package var trust: String?
  package var adminSecret: String?
  package var project: String?
  package var database: String?
  package var cache: String?
  /// Whether all writes are rejected.
  package var isReadOnly = false
  /// Whether the data is treated as production data; `nil` if the file does not specify it.
  package var isProduction: Bool?

  init(name: String, place: String) { (self.name, self.place) = (name, place) }

  /// The keys of this connection that name a backend.
  package var backends: [String] {
    let named = [
      ("embedded", isEmbedded), ("data", data != nil), ("emulator", emulator != nil), ("cloud", isCloud),
      ("credentials", credentials != nil), ("host", host != nil),
    ]
    return named.filter(\.1).map(\.0)
  }
}

/// The connection that is used if no option names a backend. `$HEARTH_CONNECTION` names it, otherwise `hearth
/// connections use` has set it.
package struct DefaultConnection: Hashable, Sendable {
  /// The way in which the connection was chosen.
  package enum Source: Codable, Hashable, Sendable {
    case environment, chosen

    /// The text that refers to the connection in errors about options.
    func name(of connection: String) -> String {
      switch self {
      case .environment: "$\(DefaultConnection.variable) (\(connection))"
      case .chosen: "the default connection \(connection)"
      }
    }

    /// A sentence that says how to use another backend.
    package var remark: String {
      switch self {
      case .environment: "$\(DefaultConnection.variable) selects this connection."
      case .chosen: "This is the default connection. 'hearth connections use --none' removes the default."
      }
    }
  }

  package static let variable = "HEARTH_CONNECTION"

  package let name: String
  package let source: Source

  /// - Returns: `nil` if there is no default connection. An empty variable means no connection. A variable that names
  ///   an emulator takes precedence over `hearth connections use`.
  package init?(_ paths: Paths, _ environment: [String: String]) {
    if let named = environment[Self.variable] {
      guard !named.isEmpty else { return nil }
      (name, source) = (named, .environment)
      return
    }
    guard environment[RemoteOptions.emulatorVariable]?.isEmpty != false, let chosen = Self.chosen(paths) else {
      return nil
    }
    (name, source) = (chosen, .chosen)
  }

  /// The connection set by `hearth connections use`; `nil` for none.
  private static func chosen(_ paths: Paths) -> String? {
    // An unreadable choice counts as none.
    guard let text = try? String(contentsOfFile: paths.chosenConnection, encoding: .utf8) else { return nil }
    let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
    return name.isEmpty ? nil : name
  }

  /// Saves the name of the default connection; `nil` for none.
  package static func choose(_ name: String?, _ paths: Paths) throws(CommandFailure) {
    let url = URL(filePath: paths.chosenConnection)
    do {
      guard let name else {
        if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
        return
      }
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try Data("\(name)\n".utf8).write(to: url, options: .atomic)
    } catch {
      throw CommandFailure(.cannotCreate, "\(paths.short(url.path)) cannot be written: \(error.localizedDescription)")
    }
  }
}

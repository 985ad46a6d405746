// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import FirestoreGRPC
import FirestoreJSON
import FirestoreModel

/// `hearth connections`: the names that `--connection` accepts.
struct ConnectionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "connections", abstract: "List the connections of connections.toml, and where each leads.",
    discussion: """
      The file lies beside config.toml ('hearth paths' says where). Each connection begins with a line [NAME]; its keys \
      are emulator = "HOST:PORT", or cloud = true, credentials = "FILE", host = "HOST", trust = "FILE", or data = "DIR", \
      or embedded = true for the usual data; and admin-secret = "FILE" for a 'hearth serve' that asks for it, project, \
      database, cache, readonly = true, production = true or false. \
      Relative paths begin at the file. Production is shown on the prompt and the dashboard; without the key it is what \
      Cloud Firestore and other servers over TLS are.

      Every command and the dashboard take a name with --connection, or -C. Exit status 78 if something in the file \
      cannot be used, which is said.
      """)

  @Flag(help: "Print JSON, one object per line.")
  var json = false

  func run() throws {
    let file = ConnectionsFile.read(.ofProcess)
    var problems = file.problems.map(\.text)
    var table = TextTable(["NAME", "LEADS TO", "PROJECT/DATABASE", ""].map { TextTable.Column(title: $0) })
    let output = OutputFile.standard()
    for connection in file.connections {
      do {
        let locations = try StorageOptions.Locations(connection)
        if json {
          try output.data(line: Self.json(connection, locations))
        } else {
          table.add(Self.row(connection, locations))
        }
      } catch {
        let reason = StorageOptions.message(for: error)
        let place = "\(connection.place): [\(connection.name)] "
        problems.append(reason.hasPrefix(place) ? reason : place + reason)
      }
    }
    if !table.rows.isEmpty { for line in table.lines() { try output.line(line) } }
    try output.flush()
    if file.connections.isEmpty, problems.isEmpty {
      StandardError.write("hearth: \(file.name) names no connection. 'hearth help connections' says how it is written.")
    }
    guard let last = problems.popLast() else { return }
    for problem in problems { StandardError.write("hearth: \(problem)") }
    throw CommandFailure(.configuration, last)
  }

  private static func row(_ connection: NamedConnection, _ locations: StorageOptions.Locations) -> [String] {
    [
      connection.name, locations.place(.ofProcess), "\(locations.database.project)/\(locations.database.database)",
      locations.marks.joined(separator: ", "),
    ]
  }

  private static func json(_ connection: NamedConnection, _ locations: StorageOptions.Locations) -> String {
    DocumentJSON.line(
      of: [
        "name": .string(connection.name), "backend": .string(locations.place(.ofProcess)),
        "project": .string(locations.database.project), "database": .string(locations.database.database),
        "readonly": .boolean(locations.isReadOnly), "production": .boolean(locations.isProduction),
      ] as Fields)
  }
}

extension StorageOptions.Locations {
  /// Resolves the backend and database of a named connection.
  init(_ connection: NamedConnection) throws {
    let file = ConnectionsFile(of: connection)
    self = try ConnectionsFile.$given.withValue(file) {
      try StorageOptions.parse(["--connection", connection.name]).locations
    }
  }

  /// `emulator 127.0.0.1:8080`, `Cloud Firestore`, `data in ~/x`.
  func place(_ paths: Paths) -> String {
    switch backend {
    case .embedded(nil): "memory"
    case .embedded(let folder?): isDataNamed ? "data in \(paths.short(folder))" : "embedded"
    case .remote(let remote):
      !remote.endpoint.isTLS
        ? "emulator \(remote.endpoint.text)"
        : remote.endpoint.isGoogle ? "Cloud Firestore" : "server \(remote.endpoint.text)"
    }
  }

  /// Warnings for the user before a write.
  var marks: [String] {
    [isProduction ? "production" : nil, isReadOnly ? "read-only" : nil].compactMap(\.self)
  }
}

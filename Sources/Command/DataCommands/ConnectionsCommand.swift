// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
package import CommandOutput
import FirestoreGRPC
import FirestoreJSON
import FirestoreModel

/// `hearth connections`: the names that `--connection` accepts, and the default connection.
package struct ConnectionsCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "connections", abstract: "List the connections of connections.toml, or make one the default.",
    subcommands: [ConnectionListing.self, ConnectionChoice.self], defaultSubcommand: ConnectionListing.self)

  package init() {}
}

/// `hearth connections use`.
package struct ConnectionChoice: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "use", abstract: "Use a connection by default.",
    usage: "hearth connections use <name>|--none",
    discussion: """
      Afterwards every command, the shell and the dashboard use this connection, unless an option or \
      $FIRESTORE_EMULATOR_HOST names a backend. $HEARTH_CONNECTION names a connection for one terminal and takes \
      precedence; an empty value means none. On a terminal, a command that writes to a default \
      connection prints a note.

      Exit status 64 if there is no such connection, 78 if it cannot be used.
      """)

  @Argument(help: ArgumentHelp("Name of a connection.", valueName: "name"))
  var name: String?

  @Flag(help: "Remove the default connection, so that commands use the data on this machine.")
  var none = false

  package init() {}

  package func validate() throws {
    if none == (name != nil) { throw ValidationError("name a connection, or use --none.") }
  }

  package func run() throws {
    let paths = Paths.ofProcess
    if let name {
      let connection = try ConnectionsFile.read(paths).connection(named: name)
      let locations = try StorageOptions.Locations(connection)
      try DefaultConnection.choose(name, paths)
      StandardError.write("hearth: \(name) is the default: \(locations.place(paths)), \(locations.database.text).")
    } else {
      try DefaultConnection.choose(nil, paths)
      StandardError.write("hearth: there is no default connection.")
    }
    let current = DefaultConnection(paths, StorageOptions.environment)
    if let current, current.source == .environment, current.name != name {
      StandardError.write("hearth: $HEARTH_CONNECTION takes precedence here and selects \(current.name).")
    }
  }
}

/// `hearth connections list`, the default subcommand of `hearth connections`.
package struct ConnectionListing: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the connections of connections.toml with their backends.",
    discussion: """
      The file is next to config.toml (see 'hearth paths'). Each connection starts with a [NAME] line. Its keys are \
      emulator = "HOST:PORT", or cloud = true, credentials = "FILE", host = "HOST", trust = "FILE", or data = "DIR", \
      or embedded = true for the default data. More keys are admin-secret = "FILE" for a 'hearth serve' that requires \
      it, project, database, cache, readonly = true, and production = true or false. Relative paths start at the \
      file's folder. The prompt and the dashboard mark production. By default Cloud Firestore and other servers over \
      TLS are production.

      Every command and the dashboard take a name with --connection, or -C. The list marks the default connection. \
      Exit status 78 if part of the file is invalid; the error names the part.
      """)

  @Flag(help: "Print JSON, one object per line.")
  var json = false

  package init() {}

  package func run() throws {
    let file = ConnectionsFile.read(.ofProcess)
    var problems = file.problems.map(\.text)
    var table = TextTable(["NAME", "BACKEND", "PROJECT/DATABASE", ""].map { TextTable.Column(title: $0) })
    let output = OutputFile.standard()
    let usual = DefaultConnection(.ofProcess, StorageOptions.environment)?.name
    for connection in file.connections {
      do {
        let locations = try StorageOptions.Locations(connection)
        if json {
          try output.data(line: Self.json(connection, locations, isDefault: connection.name == usual))
        } else {
          table.add(Self.row(connection, locations, isDefault: connection.name == usual))
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
      StandardError.write(
        "hearth: \(file.name) has no connections. 'hearth help connections list' describes the format.")
    }
    guard let last = problems.popLast() else { return }
    for problem in problems { StandardError.write("hearth: \(problem)") }
    throw CommandFailure(.configuration, last)
  }

  private static func row(
    _ connection: NamedConnection, _ locations: StorageOptions.Locations, isDefault: Bool
  ) -> [String] {
    [
      connection.name, locations.place(.ofProcess), "\(locations.database.project)/\(locations.database.database)",
      ((isDefault ? ["default"] : []) + locations.marks).joined(separator: ", "),
    ]
  }

  private static func json(
    _ connection: NamedConnection, _ locations: StorageOptions.Locations, isDefault: Bool
  ) -> String {
    DocumentJSON.line(
      of: [
        "name": .string(connection.name), "backend": .string(locations.place(.ofProcess)),
        "project": .string(locations.database.project), "database": .string(locations.database.database),
        "readonly": .boolean(locations.isReadOnly), "production": .boolean(locations.isProduction),
        "default": .boolean(isDefault),
      ] as Fields)
  }
}

extension StorageOptions.Locations {
  /// Describes the backend and the database of a named connection.
  init(_ connection: NamedConnection) throws {
    let file = ConnectionsFile(of: connection)
    self = try ConnectionsFile.$given.withValue(file) {
      try StorageOptions.parse(["--connection", connection.name]).locations
    }
  }

  /// The location as text: `emulator 127.0.0.1:8080`, `Cloud Firestore`, `data in ~/x`.
  package func place(_ paths: Paths) -> String {
    switch backend {
    case .embedded(nil): "memory"
    case .embedded(let folder?): isDataNamed ? "data in \(paths.short(folder))" : "embedded"
    case .remote(let remote):
      !remote.endpoint.isTLS
        ? "emulator \(remote.endpoint.text)"
        : remote.endpoint.isGoogle ? "Cloud Firestore" : "server \(remote.endpoint.text)"
    }
  }

  /// Warnings that concern writes to this connection.
  package var marks: [String] {
    [isProduction ? "production" : nil, isReadOnly ? "read-only" : nil].compactMap(\.self)
  }
}

// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
package import CommandOutput
import FirestoreBackend
import FirestoreGRPC
package import FirestoreModel
import FirestoreText

import struct Hearth.Backend

/// The location of documents: a database, a path in the database, and an optional read time.
package struct NamedPlace: Sendable {
  package var locations: StorageOptions.Locations
  /// The path. The root means the whole database. `nil` means that the text contains only a database.
  package var path: ResourcePath?
  /// The read time; `nil` for the current data.
  package var time: Timestamp?
  /// Whether the text contains a database, which replaces the database of the options.
  package var namesDatabase: Bool

  /// - Parameter base: the database of the options. If the text names a folder or an emulator, the project and the
  ///   database id of the options still apply.
  /// - Throws: `usage` for an invalid address or path, and the error of an invalid connection.
  package init(_ text: PlaceText, in base: StorageOptions.Locations) throws(CommandFailure) {
    locations =
      try text.database.map { (database) throws(CommandFailure) in try database.locations(from: base) } ?? base
    path = try text.path.map { (path) throws(CommandFailure) in try DataPath.orRoot(path) }
    time = text.time
    namesDatabase = text.database != nil
  }

  package init(_ text: String, in base: StorageOptions.Locations) throws(CommandFailure) {
    try self.init(PlaceText(text), in: base)
  }

  /// - Throws: `usage` if there is a read time, `permissionDenied` for a read-only connection.
  package func requireWritable(_ text: String) throws(CommandFailure) {
    if time != nil {
      throw CommandFailure(.usage, "data at an earlier time is read-only. Remove the time from \(text).")
    }
    try locations.requireWritable()
  }
}

extension StorageOptions.Locations {
  /// - Throws: `permissionDenied` for a read-only connection.
  package func requireWritable() throws(CommandFailure) {
    guard isReadOnly else { return }
    let name = connection.map { "the connection \($0.name)" } ?? "this database"
    throw CommandFailure(.permissionDenied, "\(name) is read-only. Nothing was written.")
  }

  /// The name of the database for messages.
  package var name: String {
    let database = "\(database.project)/\(database.database)"
    switch backend {
    case .embedded(let folder?): return "\(database) in \(folder)"
    case .embedded(nil): return database
    case .remote(let remote): return "\(database) at \(remote.endpoint.text)"
    }
  }
}

extension PlaceText.Database {
  fileprivate func locations(from base: StorageOptions.Locations) throws(CommandFailure) -> StorageOptions.Locations {
    var locations = base
    (locations.connection, locations.isReadOnly) = (nil, false)
    switch self {
    case .connection(let name):
      if name.isEmpty {
        throw CommandFailure(.usage, "connection: needs a name, as in connection:prod.")
      }
      return try parsed()
    case .folder(let folder):
      if folder.isEmpty { throw CommandFailure(.usage, "data: needs a folder, as in data:backup.") }
      (locations.backend, locations.isDataNamed) = (.embedded(folder: Backend.dataFolder(of: folder)), true)
    case .emulator(let address):
      do throws(ModelError) {
        let endpoint = try Endpoint(address, defaultPort: 8080, security: .plaintext, from: "emulator:")
        var remote = RemoteBackend(endpoint: endpoint, identity: .owner)
        // The emulator is used as the same app user as the server of the options.
        if case .remote(let named) = base.backend, case .user = named.identity {
          (remote.identity, remote.allowsInsecureCredentials) = (named.identity, true)
        }
        locations.backend = .remote(remote)
      } catch {
        throw CommandFailure(.usage, error.message)
      }
    case .cloud(let project):
      if project.isEmpty {
        throw CommandFailure(.usage, "cloud: needs a project, as in cloud:my-project.")
      }
      locations.backend = try parsed().backend
      locations.database = DatabaseID(project: project, database: base.database.database)
    }
    return locations
  }

  private func parsed() throws(CommandFailure) -> StorageOptions.Locations {
    let failure = ParsingFailure()
    do {
      return try ParsingFailure.$current.withValue(failure) { try StorageOptions.parse(options).locations }
    } catch {
      throw failure.failure ?? CommandFailure(.usage, StorageOptions.message(for: error))
    }
  }
}

/// A location of documents as typed on the command line: a database, a path, and a read time. Each part is optional:
/// `connection:prod`, `emulator:localhost:8080/cities`, `cloud:my-project/cities/SF@-10m`, `./backup/cities`,
/// `cities@-10m`.
package struct PlaceText: Equatable, Sendable {
  /// A database that replaces the database of the options.
  package enum Database: Equatable, Sendable {
    /// A connection of `connections.toml`.
    case connection(String)
    /// The address of an emulator or of `hearth serve`.
    case emulator(String)
    /// A project of Cloud Firestore, with the application default credentials.
    case cloud(project: String)
    /// A data folder of the embedded backend. The folder need not exist.
    case folder(String)
  }

  package var database: Database?
  /// The text after the database; `nil` if it is empty.
  package var path: String?
  package var time: Timestamp?

  /// The forms of a location in help texts.
  package static let forms = "a path, ./FOLDER, data:FOLDER, connection:NAME, emulator:HOST:PORT or cloud:PROJECT"

  /// - Parameter isData: returns whether a folder contains data. The text after such a folder is the path.
  package init(
    _ text: String, isData: (String) -> Bool = { LocalBackend.exists(in: Backend.dataFolder(of: $0)) }
  ) {
    let (text, time) = Self.moment(of: text)
    self.time = time
    for (scheme, make) in Self.schemes where text.hasPrefix(scheme) {
      let rest = text.dropFirst(scheme.count)
      let name = rest.prefix { $0 != "/" }
      (database, path) = (make(String(name)), Self.path(rest.dropFirst(name.count)))
      return
    }
    if text.hasPrefix("data:") {
      (database, path) = Self.folder(String(text.dropFirst("data:".count)), isData)
    } else if text == "." || text == ".." || text.hasPrefix("./") || text.hasPrefix("../") {
      (database, path) = Self.folder(text, isData)
    } else if text.hasPrefix("/"), let beginning = Self.dataFolder(beginning: text, isData) {
      (database, path) = (.folder(beginning), Self.path(text.dropFirst(beginning.count)))
    } else {
      path = text
    }
  }

  private static let schemes: [(String, @Sendable (String) -> Database)] = [
    ("connection:", { .connection($0) }), ("emulator:", { .emulator($0) }), ("cloud:", { .cloud(project: $0) }),
  ]

  /// Finds the longest prefix of the text that is a folder with data. The rest is the path. If there is no data, the
  /// whole text is a folder that does not exist yet.
  private static func folder(_ text: String, _ isData: (String) -> Bool) -> (Database, String?) {
    guard let beginning = dataFolder(beginning: text, isData) else { return (.folder(text), nil) }
    return (.folder(beginning), path(text.dropFirst(beginning.count)))
  }

  private static func dataFolder(beginning text: String, _ isData: (String) -> Bool) -> String? {
    var beginning = text[...]
    while !beginning.isEmpty {
      if isData(String(beginning)) { return String(beginning) }
      beginning = beginning[..<(beginning.lastIndex(of: "/") ?? beginning.startIndex)]
    }
    return nil
  }

  /// - Parameter text: empty, or the text after a database. It starts with a slash.
  private static func path(_ text: Substring) -> String? { text.count > 1 ? String(text.dropFirst()) : nil }

  /// Splits `cities@-10m` at the last `@`, if a time follows the `@`.
  private static func moment(of text: String) -> (text: String, time: Timestamp?) {
    guard let mark = text.lastIndex(of: "@"), mark > text.startIndex,
      let time = try? MomentText.parse(String(text[text.index(after: mark)...]))
    else { return (text, nil) }
    return (String(text[..<mark]), time)
  }
}

extension PlaceText.Database {
  /// The options that select this database.
  package var options: [String] {
    switch self {
    case .connection(let name): ["--connection=\(name)"]
    case .emulator(let address): ["--emulator=\(address)"]
    case .cloud(let project): ["--cloud", "--project=\(project)"]
    case .folder(let folder): ["--data=\(folder)"]
    }
  }
}

/// Paths of documents and collections as arguments. Consoles write paths with a leading slash, and shells add a
/// trailing slash when they complete a path. Both are accepted, as in the SDKs.
package enum DataPath {
  private static func trimmed(_ text: String) throws(CommandFailure) -> String {
    if text == "/" {
      throw CommandFailure(
        .usage,
        "/ is the whole database. Name a collection or a document. 'hearth ls' lists the collections, "
          + "'hearth stats' counts their documents and 'hearth export /' prints them all.")
    }
    var path = text[...]
    if path.utf8.count > 1, path.utf8.first == UInt8(ascii: "/") { path.removeFirst() }
    if path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    return String(path)
  }

  package static func any(_ text: String) throws(CommandFailure) -> ResourcePath {
    let text = try trimmed(text)
    do throws(ModelError) {
      return try ResourcePath(validating: text)
    } catch {
      throw CommandFailure(.usage, error.message)
    }
  }

  /// - Parameter text: the path; `nil` or `/` for the whole database.
  package static func orRoot(_ text: String?) throws(CommandFailure) -> ResourcePath {
    guard let text, text != "/" else { return .root }
    return try any(text)
  }

  package static func document(_ text: String) throws(CommandFailure) -> DocumentKey {
    let text = try trimmed(text)
    do throws(ModelError) {
      return try DocumentKey(validating: text)
    } catch {
      throw CommandFailure(.usage, error.message)
    }
  }

  package static func collection(_ text: String) throws(CommandFailure) -> ResourcePath {
    let path = try any(text)
    guard path.isCollection else {
      throw CommandFailure(.usage, "\"\(text)\" names a document. A collection path has an odd number of segments.")
    }
    return path
  }
}

/// The project and the database id of the destination, for destinations that cannot contain them.
package struct DestinationOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Write to this project.", valueName: "id"))
  var toProject: String?

  @Option(help: ArgumentHelp("Write to this database.", valueName: "id"))
  var toDatabase: String?

  package var isNamed: Bool { toProject != nil || toDatabase != nil }

  package mutating func validate() throws {
    for (name, id) in [("--to-project", toProject), ("--to-database", toDatabase)] {
      if let id { try StorageOptions.check(id, name) }
    }
  }

  /// The locations with this project and database id. If an option is missing, the value in `locations` remains.
  package func applied(to locations: StorageOptions.Locations) -> StorageOptions.Locations {
    var locations = locations
    locations.database = DatabaseID(
      project: toProject ?? locations.database.project, database: toDatabase ?? locations.database.database)
    return locations
  }

  package init() {}
}

// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
package import CommandOutput
import FirestoreGRPC
package import FirestoreModel

/// A place of documents: a database and a path in it, perhaps as of a moment.
package struct NamedPlace: Sendable {
  package var locations: StorageOptions.Locations
  /// The path; the root for all of the database, `nil` if the text names a database alone.
  package var path: ResourcePath?
  /// The moment as of which the place is meant; `nil` for now.
  package var time: Timestamp?
  /// Whether the text names a database, in place of the one of the options.
  package var namesDatabase: Bool

  /// - Parameter base: the database of the options, whose project and database a folder and an emulator have as well.
  /// - Throws: usage for an address or a path that is none; the reason why a connection is refused.
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

  /// - Throws: usage for a moment that is past, permission denied for a connection that is read-only.
  package func requireWritable(_ text: String) throws(CommandFailure) {
    if time != nil { throw CommandFailure(.usage, "nothing is written to the past: leave out the time of \(text).") }
    try locations.requireWritable()
  }
}

extension StorageOptions.Locations {
  /// - Throws: permission denied for a connection that is read-only.
  package func requireWritable() throws(CommandFailure) {
    guard isReadOnly else { return }
    let name = connection.map { "the connection \($0.name)" } ?? "this"
    throw CommandFailure(.permissionDenied, "\(name) is read-only: nothing is written to it.")
  }

  /// The database in words for people.
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
        throw CommandFailure(.usage, "connection: is to be followed by a name, as in connection:prod.")
      }
      return try parsed()
    case .folder(let folder):
      if folder.isEmpty { throw CommandFailure(.usage, "data: is to be followed by a folder, as in data:backup.") }
      (locations.backend, locations.isDataNamed) = (.embedded(folder: folder), true)
    case .emulator(let address):
      do throws(ModelError) {
        let endpoint = try Endpoint(address, defaultPort: 8080, security: .plaintext, from: "emulator:")
        locations.backend = .remote(RemoteBackend(endpoint: endpoint, identity: .owner))
      } catch {
        throw CommandFailure(.usage, error.message)
      }
    case .cloud(let project):
      if project.isEmpty {
        throw CommandFailure(.usage, "cloud: is to be followed by a project, as in cloud:my-project.")
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

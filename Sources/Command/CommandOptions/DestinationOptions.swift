// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import FirestoreGRPC
import FirestoreModel
import Foundation

/// Another database to write to. The options are those of the source with `--to-` before them; options that are left
/// out are as at the source.
package struct DestinationOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Write to a connection of connections.toml.", valueName: "name"))
  var toConnection: String?

  @Option(help: ArgumentHelp("Write to the embedded backend's data in this folder.", valueName: "dir"))
  var toData: String?

  @Option(help: ArgumentHelp("Write to the emulator or 'hearth serve' at this address.", valueName: "host:port"))
  var toEmulator: String?

  @Flag(help: "Write to Cloud Firestore, as the application's default credentials.")
  var toCloud = false

  @Option(help: ArgumentHelp("Write to Cloud Firestore as the account of this key file.", valueName: "file"))
  var toCredentials: String?

  @Option(
    help: ArgumentHelp("With --to-emulator: be an administrator there by the secret in this file.", valueName: "file"))
  var toAdminSecret: String?

  @Option(
    help: ArgumentHelp("With --to-emulator: speak TLS, and trust the certificates in this PEM file.", valueName: "file")
  )
  var toTrust: String?

  @Option(help: ArgumentHelp("Write to this project.", valueName: "id"))
  var toProject: String?

  @Option(help: ArgumentHelp("Write to this database.", valueName: "id"))
  var toDatabase: String?

  /// Whether the options name a backend.
  private var namesBackend: Bool {
    toConnection != nil || toData != nil || toEmulator != nil || toCloud || toCredentials != nil
  }

  /// Whether the options name any part of a destination.
  package var isNamed: Bool { namesBackend || toProject != nil || toDatabase != nil }

  package mutating func validate() throws { _ = try storage() }

  /// The options as storage options, with their checks.
  private func storage() throws -> StorageOptions {
    var arguments: [String] = []
    for (name, value) in [
      ("--connection", toConnection), ("--data", toData), ("--emulator", toEmulator),
      ("--credentials", toCredentials), ("--admin-secret", toAdminSecret), ("--trust", toTrust),
      ("--project", toProject), ("--database", toDatabase),
    ] {
      if let value { arguments.append("\(name)=\(value)") }
    }
    if toCloud { arguments.append("--cloud") }
    return try OptionNames.$prefix.withValue("--to-") {
      do { return try StorageOptions.parse(arguments) } catch {
        throw ValidationError(StorageOptions.message(for: error))
      }
    }
  }

  /// The backend and database to write to.
  /// - Throws: `permissionDenied` for a connection that is read-only.
  package func locations(from source: StorageOptions.Locations) throws -> StorageOptions.Locations {
    var locations = source
    let named = try storage()
    if namesBackend { locations = named.locations }
    if let toConnection {
      if named.isReadOnly {
        throw CommandFailure(
          .permissionDenied, "the connection \(toConnection) is read-only: nothing is written to it.")
      }
      return locations
    }
    // A key file names a project, and so may the machine's own credentials.
    let account = toCloud || toCredentials != nil
    let project =
      toProject ?? (account ? named.remote.project(environment: ProcessInfo.processInfo.environment)?.id : nil)
    locations.database = DatabaseID(
      project: project ?? source.database.project, database: toDatabase ?? source.database.database)
    return locations
  }

  /// The destination's name in messages.
  package func name(_ locations: StorageOptions.Locations) -> String {
    let database = "\(locations.database.project)/\(locations.database.database)"
    switch locations.backend {
    case .embedded(let folder?): return "\(database) in \(folder)"
    case .embedded(nil): return database
    case .remote(let remote): return "\(database) at \(remote.endpoint.text)"
    }
  }

  package init() {}
}

/// The names of options in complaints about options that stand for a source or a destination.
enum OptionNames {
  /// The beginning of the names that the user has typed.
  @TaskLocal static var prefix = "--"
}

extension DefaultStringInterpolation {
  /// An option's name as the user types it.
  mutating func appendInterpolation(option name: String) { appendLiteral(OptionNames.prefix + name) }
}

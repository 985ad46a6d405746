// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import FirestoreGRPC
import FirestoreModel
import Foundation

/// Another database to write to. The options are those of the source with `--to-` before them; options that are left
/// out are as at the source. The help shows those alone that a place on the command line cannot say.
package struct DestinationOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Write to a connection of connections.toml.", valueName: "name", visibility: .hidden))
  var toConnection: String?

  @Option(
    help: ArgumentHelp(
      "Write to the embedded backend's data in this folder.", valueName: "dir", visibility: .hidden))
  var toData: String?

  @Option(
    help: ArgumentHelp(
      "Write to the emulator or 'hearth serve' at this address.", valueName: "host:port", visibility: .hidden))
  var toEmulator: String?

  @Flag(
    help: ArgumentHelp("Write to Cloud Firestore, as the application's default credentials.", visibility: .hidden))
  var toCloud = false

  @Option(
    help: ArgumentHelp(
      "Write to Cloud Firestore as the account of this key file.", valueName: "file", visibility: .hidden))
  var toCredentials: String?

  @Option(
    help: ArgumentHelp(
      "With --to-emulator: be an administrator there by the secret in this file.", valueName: "file",
      visibility: .hidden))
  var toAdminSecret: String?

  @Option(
    help: ArgumentHelp(
      "With --to-emulator: speak TLS, and trust the certificates in this PEM file.", valueName: "file",
      visibility: .hidden))
  var toTrust: String?

  @Option(help: ArgumentHelp("Write to this project.", valueName: "id"))
  var toProject: String?

  @Option(help: ArgumentHelp("Write to this database.", valueName: "id"))
  var toDatabase: String?

  /// Whether the options name a backend.
  package var namesBackend: Bool {
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
    if toConnection != nil {
      try locations.requireWritable()
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

// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import FirestoreBackend
import FirestoreClientState
import FirestoreEmulator
import Foundation

import struct Hearth.Backend

/// The options of `hearth serve` and `hearth exec`: the address, the data to serve, and who may access it.
struct ServeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The address to listen on. (default: 127.0.0.1)", valueName: "address"))
  var host: String?

  @Option(
    help: ArgumentHelp("The port to listen on; 0 lets the system choose. (default: 8080)", valueName: "number"))
  var port: Int?

  @Option(help: ArgumentHelp("Store the data in this folder, which is created if absent.", valueName: "directory"))
  var data: String?

  @Flag(
    help: "Serve your local database, which commands and dashboards use. --data and --in-memory take precedence.")
  var local = false

  @Flag(help: "Keep the data in memory and discard it at the end. This is the default.")
  var inMemory = false

  @Option(
    help: ArgumentHelp(
      "Start with the documents of a file, if the database is empty. The file can have any format of 'hearth import' "
        + "with document paths.", valueName: "file"))
  var seed: String?

  @Flag(help: "Let clients clear the local database with POST /reset and DELETE …/documents.")
  var allowReset = false

  @Option(
    help: ArgumentHelp(
      "Read rules, indexes, address and project from this firebase.json. Default: firebase.json of the working "
        + "directory, if there is one.", valueName: "file"))
  var config: String?

  @OptionGroup(title: "Access") var access: AccessOptions
  @OptionGroup(title: "As Google's emulator") var emulator: EmulatorOptions

  @Option(help: BackendConfiguration.Durability.help)
  var sync = BackendConfiguration.Durability.full

  @Option(help: ArgumentHelp("A PEM file with the certificate chain, to serve TLS.", valueName: "file"))
  var tlsCert: String?

  @Option(help: ArgumentHelp("A PEM file with the certificate's private key.", valueName: "file"))
  var tlsKey: String?

  @Option(
    help: ArgumentHelp(
      "Maximum number of connections; the limit of open files can reduce it. Above the maximum, a new connection replaces "
        + "one that has not sent anything; without such a connection, the new one is rejected.", valueName: "number"))
  var maxConnections = EmulatorServer.Configuration.usualMaximumConnections

  @Option(
    help: ArgumentHelp(
      "Print a line per request to standard error: method, path, status, milliseconds, user, and the line of the rule "
        + "that rejected it. text or json; with json all messages are JSON.", valueName: "format"))
  var logFormat: LogFormat?

  @Option(
    help: ArgumentHelp(
      "Write HOST:PORT to this file when connections are accepted, and remove it at the end.", valueName: "file"))
  var readyFile: String?

  func validate() throws {
    if maxConnections < 1 { throw ValidationError("Invalid --max-connections \(maxConnections). Use at least 1.") }
    if let port, !(0...65_535).contains(port) {
      throw ValidationError("Invalid port \(port). Use a number from 0 to 65535.")
    }
    if emulator.hostPort != nil, host != nil || port != nil {
      throw ValidationError("--host-port cannot be combined with --host or --port. Remove one of them.")
    }
    if (tlsCert == nil) != (tlsKey == nil) { throw ValidationError("--tls-cert and --tls-key need each other.") }
    if seed != nil, emulator.importData != nil {
      throw ValidationError("--seed and --import-data both fill the database. Remove one of them.")
    }
    if inMemory, data != nil { throw ValidationError("--data and --in-memory cannot be combined.") }
    if data?.isEmpty == true { throw ValidationError("--data is empty. Name a folder.") }
    if readyFile?.isEmpty == true { throw ValidationError("--ready-file is empty. Name a file.") }
  }

  /// The format of the log.
  enum LogFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }
}

/// The data that a server serves.
enum ServedData: Hashable, Sendable {
  case memory
  case folder(String)
  /// The user's local database. Clients may clear it only if the user allows this.
  case local(String, mayBeCleared: Bool)

  /// The data that the options select. By default, the data is in memory and is lost when the server ends.
  init(_ options: ServeOptions, _ paths: Paths) {
    let local = paths.data + "/backend"
    let folder = options.data.map { Backend.dataFolder(of: $0) } ?? (options.local && !options.inMemory ? local : nil)
    guard let folder else {
      self = .memory
      return
    }
    let isLocal = Self.resolved(folder) == Self.resolved(local)
    self = isLocal ? .local(folder, mayBeCleared: options.allowReset) : .folder(folder)
  }

  private static func resolved(_ path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }

  /// The folder of the data; `nil` for data in memory.
  var folder: String? {
    switch self {
    case .memory: nil
    case .folder(let folder), .local(let folder, _): URL(filePath: folder).standardizedFileURL.path
    }
  }

  var isProtected: Bool { if case .local(_, mayBeCleared: false) = self { true } else { false } }

  /// A sentence about the data.
  var text: String {
    switch self {
    case .memory: "The data is in memory until the server ends."
    case .folder: "The data is in \(folder ?? "")."
    case .local(_, mayBeCleared: true): "The data is your local database in \(folder ?? ""), which clients may clear."
    case .local: "The data is your local database in \(folder ?? ""), which clients cannot clear."
    }
  }
}

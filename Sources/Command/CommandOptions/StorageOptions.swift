// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOutput
package import FirestoreBackend
import FirestoreGRPC
package import FirestoreLocal
package import FirestoreModel
import Foundation

import struct Hearth.Backend
import enum Hearth.PathComponent

/// The options for the backend, the database and the client's cache. Every command that accesses data has them.
package struct StorageOptions: ParsableArguments {
  @Option(
    name: [.customShort("C", allowingJoined: true), .long],
    help: ArgumentHelp(
      "Use a connection from connections.toml; 'hearth connections' lists them.", valueName: "name"))
  package var connection: String?

  @Option(
    help: ArgumentHelp(
      "Use the emulator or 'hearth serve' at this address, in plain text unless --trust is set. Default: "
        + "$FIRESTORE_EMULATOR_HOST.",
      valueName: "host:port"))
  var emulator: String?

  @Flag(help: "Use Cloud Firestore with the application default credentials.")
  var cloud = false

  @Option(help: ArgumentHelp("Use Cloud Firestore with the account of this key file.", valueName: "file"))
  var credentials: String?

  @Option(
    help: ArgumentHelp(
      "Connect over TLS to this server instead of firestore.googleapis.com.", valueName: "host[:port]"))
  var host: String?

  @Option(
    help: ArgumentHelp(
      "Trust the certificates in this PEM file instead of the system's. With --emulator: use TLS, for 'hearth "
        + "serve --tls-cert'.", valueName: "file"))
  var trust: String?

  @Option(
    help: ArgumentHelp(
      "Act as an administrator with the secret in this file, for 'hearth serve --auth-keys'. Without TLS, only for a "
        + "server on this machine.", valueName: "file"))
  var adminSecret: String?

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "Act as the user with this uid at 'hearth serve' or an emulator, subject to its rules; none means not signed in.",
      valueName: "uid"))
  var userID: String?

  @Option(help: ArgumentHelp("Additional claims of the user's token: '{\"admin\": true}'.", valueName: "json"))
  var claims: String?

  @Flag(
    help: "Send your Google access token to a --host that is not Google's. That server can use the token elsewhere.")
  var insecureCredentials = false

  @Option(
    help: ArgumentHelp(
      "Project. Default: from the key file or $GOOGLE_CLOUD_PROJECT, else hearth.", valueName: "id"))
  package var project: String?

  @Option(help: ArgumentHelp("Database of the project. Default: (default).", valueName: "id"))
  package var database: String?

  @Option(
    help: ArgumentHelp(
      "Folder of the client's cache and pending writes. A folder with the cache of another database is not used.",
      valueName: "dir"))
  package var cache: String?

  @Option(help: ArgumentHelp("Folder of the embedded backend's data.", valueName: "dir"))
  package var data: String?

  @Flag(help: "Keep the backend's data and the cache in memory only.")
  package var inMemory = false

  /// Describes where omitted options were taken from; `nil` before `validate`.
  package var completion: StorageCompletion?

  /// The backend outside of this process that the options name.
  package var remote: RemoteOptions {
    get {
      RemoteOptions(
        emulator: emulator, cloud: cloud, credentials: credentials, host: host, trust: trust, adminSecret: adminSecret,
        insecureCredentials: insecureCredentials, user: user)
    }
    set {
      (emulator, cloud, credentials, host) = (newValue.emulator, newValue.cloud, newValue.credentials, newValue.host)
      (trust, adminSecret) = (newValue.trust, newValue.adminSecret)
      insecureCredentials = newValue.insecureCredentials
    }
  }

  /// The app user as whom the command sends requests; `nil` for an administrator. `validate` has rejected invalid
  /// claims.
  private var user: ActingUser? { (try? ActingUser(userID, claims: claims)) ?? nil }

  package mutating func validate() throws {
    _ = try ActingUser(userID, claims: claims)
    try remote.validate()
    if completion == nil { try complete() }
    for (name, id) in [("--project", project), ("--database", database)] {
      if let id { try Self.check(id, name) }
    }
    for (name, folder) in [("--cache", cache), ("--data", data)] where folder?.isEmpty == true {
      throw ValidationError("\(name) is empty; name a folder.")
    }
    if inMemory, cache != nil || data != nil {
      throw ValidationError(
        "--in-memory stores nothing. Remove --\(data == nil ? "cache" : "data").")
    }
    do {
      let remote = try remoteBackend()
      if let remote, data != nil {
        throw ValidationError("--data is for the embedded backend, but this uses \(remote.endpoint.text).")
      }
      if remote != nil, project == nil, let (id, source) = self.remote.project(environment: Self.environment) {
        try Self.check(id, "project from \(source)", remedy: " Name another one with --project.")
      }
    } catch let error as ModelError {
      throw ValidationError(error.message)
    }
  }

  static func check(_ id: String, _ name: String, remedy: String = "") throws {
    guard id.isEmpty || id.contains("/") || id == "." || id == ".." else { return }
    throw ValidationError("Invalid \(name): \"\(id)\". An id must not be empty, . or .., or contain a slash.\(remedy)")
  }

  package struct Locations: Sendable {
    package var database: DatabaseID
    package var cache: StorageLocation
    package var backend: BackendChoice
    /// Whether the user chose the cache folder.
    var isCacheNamed = false
    /// Whether the user chose the data folder.
    package var isDataNamed = false
    /// The connection of `connections.toml` that these locations come from.
    package var connection: NamedConnection?
    /// Whether all writes are rejected.
    package var isReadOnly = false

    package init(
      database: DatabaseID, cache: StorageLocation, backend: BackendChoice, isCacheNamed: Bool = false,
      isDataNamed: Bool = false, connection: NamedConnection? = nil, isReadOnly: Bool = false
    ) {
      self.database = database
      self.cache = cache
      self.backend = backend
      self.isCacheNamed = isCacheNamed
      self.isDataNamed = isDataNamed
      self.connection = connection
      self.isReadOnly = isReadOnly
    }

    /// Whether the data is treated as production data. This is the default for servers with TLS, which
    /// `connections.toml` can override.
    package var isProduction: Bool { connection?.isProduction ?? isCloud }

    /// Whether this is a server with TLS and credentials, not an emulator.
    package var isCloud: Bool {
      guard case .remote(let remote) = backend, remote.endpoint.isTLS else { return false }
      switch remote.identity {
      case .owner, .user: return false
      case .admin, .application: return true
      }
    }
  }

  package var locations: Locations { locations(.ofProcess) }

  /// The locations of data and cache. The cache of an embedded backend is in its data folder, so both can be moved
  /// together. The caches for servers are in one folder, in subfolders named after the servers' addresses.
  package func locations(_ paths: Paths) -> Locations {
    // `validate` has rejected invalid addresses.
    let remote = try? remoteBackend()
    let project = project ?? (remote == nil ? nil : self.remote.project(environment: Self.environment)?.id) ?? "hearth"
    let folder = data.map { Backend.dataFolder(of: $0) } ?? "\(paths.data)/backend"
    let database = database ?? "(default)"
    var locations = Locations(
      database: DatabaseID(project: project, database: database), cache: .memory,
      backend: remote.map { .remote($0) } ?? .embedded(folder: inMemory ? nil : folder),
      connection: completion?.connection, isReadOnly: isReadOnly)
    if inMemory { return locations }
    (locations.isCacheNamed, locations.isDataNamed) = (cache != nil, data != nil)
    let server = remote?.endpoint.text.lowercased()
    // A user's cache has only documents that the rules allow this user to read.
    let owner = user.map { "/as/\(PathComponent.escaped($0.uid ?? ""))" } ?? ""
    let caches = server.map { "\(paths.data)/cache/remote/\(PathComponent.escaped($0))\(owner)" } ?? "\(folder)/cache"
    let place = "\(caches)/\(PathComponent.escaped(project))/\(PathComponent.escaped(database))"
    locations.cache = .directory(cache ?? place)
    return locations
  }

  /// The remote backend that the options name. If the options name no backend, the environment can name one.
  package func remoteBackend() throws(ModelError) -> RemoteBackend? {
    try remote.choice(environment: readsEnvironment ? Self.environment : [:])
  }

  private var readsEnvironment: Bool { data == nil && !inMemory && completion?.connection == nil }

  /// The option or variable that names a backend outside of this process; `nil` for the embedded backend.
  package var namedBackend: String? {
    if let connection = completion?.connection {
      return completion?.source?.name(of: connection.name) ?? "--connection \(connection.name)"
    }
    if remote.emulator != nil { return "--emulator" }
    if remote.cloud { return "--cloud" }
    if remote.credentials != nil { return "--credentials" }
    if remote.host != nil { return "--host" }
    guard readsEnvironment, Self.environment[RemoteOptions.emulatorVariable]?.isEmpty == false else { return nil }
    return "$\(RemoteOptions.emulatorVariable)"
  }

  package static var environment: [String: String] { ProcessInfo.processInfo.environment }

  package init() {}
}

extension BackendConfiguration.Durability: ExpressibleByArgument {
  package static let help = ArgumentHelp(
    "full: a commit is fsynced before it is acknowledged. normal: faster, but a power failure can lose the last "
      + "commits. Neither loses commits when the process dies.", valueName: "when")
}

/// Describes where omitted backend options were taken from.
package struct StorageCompletion: Codable, Hashable, Sendable {
  /// The named connection that provided the omitted options; `nil` for none.
  package var connection: NamedConnection?
  /// The way in which the connection was chosen, if no option names it.
  package var source: DefaultConnection.Source?
  /// Whether the command line itself names a connection, a server, a data folder or a cache folder.
  var isNamed = false
}

extension StorageOptions {
  /// Whether the named connection or the shell rejects all writes.
  package var isReadOnly: Bool { completion?.connection?.isReadOnly == true || Surroundings.current.isReadOnly }

  /// Whether the command line itself names the backend or its data. If not, the environment or a default selects the
  /// backend.
  package var isPlaceNamed: Bool { completion?.isNamed == true }

  /// Sets omitted options from the named connection, or from the shell that runs the command.
  package mutating func complete() throws {
    var completion = StorageCompletion()
    completion.isNamed = connection != nil || cache != nil || given.contains { $0 != "in-memory" }
    self.completion = completion
    if let connection {
      do throws(CommandFailure) { try adopt(connection) } catch { throw ParsingFailure.told(error) }
    } else if given.isEmpty {
      try Surroundings.current.complete(&self)
    }
  }

  /// Sets omitted options from the default connection, if there is one.
  package mutating func completeByDefault() throws {
    guard let usual = DefaultConnection(.ofProcess, Self.environment) else { return }
    do throws(CommandFailure) { try adopt(usual.name, from: usual.source) } catch {
      throw ParsingFailure.told(CommandFailure(error.status, "\(error.message) \(usual.source.remark)"))
    }
  }

  /// - Parameter source: `nil` if an option names the connection. In this case conflicting options are rejected.
  private mutating func adopt(_ name: String, from source: DefaultConnection.Source? = nil) throws(CommandFailure) {
    let named = try ConnectionsFile.read(.ofProcess).connection(named: name)
    if source == nil { try checkAgreement(with: named) }
    do {
      try adopt(named)
    } catch {
      throw CommandFailure(
        .configuration, "\(named.place): [\(named.name)] \((error as? ValidationError)?.message ?? "")")
    }
    completion?.source = source
  }

  /// The names of the options on the command line that choose a backend.
  private var given: [String] {
    let all = [
      ("emulator", remote.emulator != nil), ("cloud", remote.cloud), ("credentials", remote.credentials != nil),
      ("host", remote.host != nil), ("admin-secret", remote.adminSecret != nil), ("trust", remote.trust != nil),
      ("insecure-credentials", remote.insecureCredentials), ("data", data != nil), ("in-memory", inMemory),
    ]
    return all.filter(\.1).map(\.0)
  }

  /// - Throws: if an option contradicts the connection.
  private func checkAgreement(with named: NamedConnection) throws(CommandFailure) {
    if let option = given.first {
      throw CommandFailure(
        .usage,
        "--connection \(named.name) and --\(option) both name a backend. Remove one of them.")
    }
    for (option, mine, theirs) in [
      ("project", project, named.project), ("database", database, named.database), ("cache", cache, named.cache),
    ] {
      guard let mine, let theirs, mine != theirs else { continue }
      throw CommandFailure(
        .usage,
        "--connection \(named.name) sets \(theirs), but --\(option) sets \(mine). "
          + "Remove one of them.")
    }
  }

  /// - Throws: `ValidationError` if the connection has an error.
  private mutating func adopt(_ named: NamedConnection) throws {
    let isSameDatabase = (project ?? named.project) == named.project && (database ?? named.database) == named.database
    (remote.emulator, remote.cloud, remote.credentials) = (named.emulator, named.isCloud, named.credentials)
    (remote.host, remote.trust, data) = (named.host, named.trust, named.data)
    remote.adminSecret = named.adminSecret
    (project, database) = (project ?? named.project, database ?? named.database)
    // A cache belongs to one database.
    if isSameDatabase { cache = cache ?? named.cache }
    completion?.connection = named
    try remote.validate()
  }

  /// Sets omitted options from a shell. The shell's cache belongs to one database and is not used for other databases.
  package mutating func inherit(_ base: StorageOptions) {
    let isSameDatabase = project == nil && database == nil
    remote = base.remote
    (data, inMemory) = (base.data, base.inMemory)
    if userID == nil { (userID, claims) = (base.userID, base.claims) }
    if isSameDatabase, cache == nil { cache = base.cache }
    (project, database) = (project ?? base.project, database ?? base.database)
    completion = base.completion
  }
}

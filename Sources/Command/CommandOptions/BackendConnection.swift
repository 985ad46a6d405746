// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
package import CommandOutput
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreGRPC
package import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSQLite
package import FirestoreSharing
import FirestoreSync
import Foundation

/// The backend that the options name. `BackendConnection` opens it.
package enum BackendChoice: Hashable, Sendable {
  /// A backend whose data is in a folder that any number of processes can share. `nil` stores the data in the memory of
  /// this process.
  case embedded(folder: String?)
  case remote(RemoteBackend)

  package var isEmbedded: Bool { if case .embedded = self { true } else { false } }
}

/// A gRPC backend.
package struct RemoteBackend: Hashable, Sendable {
  package enum Identity: Hashable, Sendable {
    /// The fixed token that emulators accept for an administrator.
    case owner
    /// The administrator, with the secret in this file.
    case admin(secretFile: String)
    /// An app user, with an unsigned token.
    case user(ActingUser)
    /// The application default credentials, or a file that contains them.
    case application(file: String?)
  }

  package var endpoint: Endpoint
  package var identity: Identity
  /// Whether credentials may be sent over an unencrypted connection.
  package var allowsInsecureCredentials = false

  package init(endpoint: Endpoint, identity: Identity, allowsInsecureCredentials: Bool = false) {
    (self.endpoint, self.identity, self.allowsInsecureCredentials) = (endpoint, identity, allowsInsecureCredentials)
  }

  package var credentials: Credentials {
    switch identity {
    case .owner: .emulatorOwner
    case .user(let user): user.credentials
    case .admin(let file): .secret(file: file)
    case .application(let file):
      .application(file: file, environment: ProcessInfo.processInfo.environment, now: { .now })
    }
  }
}

/// The connection to one database of a backend. Commands access only its datastore, whatever the `BackendChoice`.
package struct BackendConnection: Sendable {
  package let database: DatabaseID
  package var datastore: any Datastore
  /// The reason why the data could not be opened as requested; `nil` if it was opened.
  package let problem: StorageNotice?
  /// The identity that the client's cache must have. `nil` if an empty backend replaces unusable data, or if the
  /// identity of the data is not yet known.
  package let identity: CacheIdentity?
  /// The data that this process shares with other processes; `nil` for data in memory and for servers.
  package var data: SharedData?

  /// Opens a connection for a command. Unusable data is an error. Reuses a shell's open connection.
  package static func open(_ choice: BackendChoice, _ database: DatabaseID) throws(CommandFailure) -> BackendConnection
  {
    try Surroundings.current.connection(choice, database) { () throws(CommandFailure) in try begin(choice, database) }
  }

  private static func begin(_ choice: BackendChoice, _ database: DatabaseID) throws(CommandFailure) -> BackendConnection
  {
    switch choice {
    case .embedded(let folder?):
      do throws(StoreError) {
        if ReadOnlyDisk.holds(folder) {
          StandardError.remark("\(folder) is on a read-only file system. Reading a copy of it.")
          return inProcess(try ReadOnlyDisk.open(folder), database)
        }
        let data = try SharedData.open(folder, as: ProgramName.ofProcess) { StandardError.remark($0) }
        JobControl.letsGo(of: data)
        return BackendConnection(data, database)
      } catch {
        throw CommandFailure(opening: error)
      }
    case .embedded(nil):
      do throws(StoreError) { return try inMemory(database) } catch { throw CommandFailure(opening: error) }
    case .remote(let remote): return BackendConnection(remote, database)
    }
  }

  /// Opens a connection for the dashboard. If the data is unusable, opens an empty backend in memory. If the process
  /// that has the data open does not respond, the backend counts as unreachable.
  /// - Parameter reports: receives reports about the data, for the screen.
  /// - Throws: `corrupt` for damaged data, because an empty backend in its place would accept the cache's pending
  ///   writes.
  package static func openOrFallBack(
    _ choice: BackendChoice, _ database: DatabaseID, _ durability: BackendConfiguration.Durability = .normal,
    reports: StorageReports = StorageReports()
  ) throws(StoreError) -> BackendConnection {
    switch choice {
    case .embedded(let folder?):
      do throws(StoreError) {
        let data = try SharedData.open(
          folder, durability: durability, pageCacheBytes: 4 << 20, as: ProgramName.ofProcess, waits: true,
          report: reports.report("backend"))
        return BackendConnection(data, database)
      } catch  where error.kind != .corrupt {
        return try inMemory(database, inPlaceOf: StorageNotice(backend: error))
      }
    case .embedded(nil): return try inMemory(database)
    case .remote(let remote): return BackendConnection(remote, database)
    }
  }

  /// - Parameter problem: the reason why the requested data was replaced.
  private static func inMemory(
    _ database: DatabaseID, inPlaceOf problem: StorageNotice? = nil
  ) throws(StoreError) -> BackendConnection {
    inProcess(try LocalBackend(BackendConfiguration(location: .memory, now: { .now })), database, inPlaceOf: problem)
  }

  private static func inProcess(
    _ backend: LocalBackend, _ database: DatabaseID, inPlaceOf problem: StorageNotice? = nil
  ) -> BackendConnection {
    BackendConnection(
      database: database, datastore: InProcessDatastore(backend: backend, database: database), problem: problem,
      identity: problem == nil ? .embedded(backend.instance, database) : nil)
  }

  private init(_ data: SharedData, _ database: DatabaseID) {
    self.init(
      database: database, datastore: data.datastore(for: database), problem: nil,
      identity: data.instance.map { .embedded($0, database) }, data: data)
  }

  private init(
    database: DatabaseID, datastore: any Datastore, problem: StorageNotice?, identity: CacheIdentity?,
    data: SharedData? = nil
  ) {
    (self.database, self.datastore, self.problem, self.identity) = (database, datastore, problem, identity)
    self.data = data
  }

  /// Does not connect yet. If the address or the credentials are wrong, the first call fails.
  private init(_ remote: RemoteBackend, _ database: DatabaseID) {
    self.database = database
    identity = .server(remote.endpoint.text, database)
    datastore = GRPCDatastore(
      remote.endpoint, database: database, credentials: remote.credentials,
      allowsInsecureCredentials: remote.allowsInsecureCredentials)
    problem = nil
  }

  /// A connection to another database of the same backend.
  package func sibling(_ other: DatabaseID, of choice: BackendChoice) throws(CommandFailure) -> BackendConnection {
    if let data { return BackendConnection(data, other) }
    return try .open(choice, other)
  }

  /// A read-only connection to the database at a read time. With `nil`, a connection to the current database.
  package func at(_ time: Timestamp?) -> BackendConnection {
    guard let time else { return self }
    var past = self
    past.datastore = PastDatastore(base: datastore, time: SnapshotVersion(time))
    return past
  }

  /// The backend's name in the dashboard. It is known before the backend is opened.
  package static func name(_ locations: StorageOptions.Locations) -> ConnectedBackend {
    let (database, named) = (locations.database, locations.connection)
    var backend =
      switch locations.backend {
      case .embedded: ConnectedBackend(.embedded, project: database.project, database: database.database)
      case .remote(let remote):
        ConnectedBackend(
          locations.isCloud ? .cloud : .emulator, project: database.project, database: database.database,
          host: remote.endpoint.text, isTLS: remote.endpoint.isTLS)
      }
    (backend.name, backend.production, backend.isReadOnly) = (named?.name, named?.isProduction, named?.isReadOnly)
    return backend
  }
}

extension StorageOptions.Locations {
  /// Connects to the database. Throws if the data is unusable.
  package func connect() throws(CommandFailure) -> BackendConnection { try BackendConnection.open(backend, database) }

  /// The cache for the client of a command that may send writes. It is in memory, unless the user named a folder,
  /// because the command must not send the pending writes in the dashboard's cache.
  package func commandStore(for connection: BackendConnection) -> LocalStoreConfiguration {
    var store = store(for: connection, .never)
    if !isCacheNamed { store.location = .memory }
    return store
  }

  /// The cache of a client that may send writes. Its identity must match the connection's database.
  /// - Parameter reports: receives reports about the cache, for a screen.
  package func store(
    for connection: BackendConnection, _ policy: GarbageCollectionPolicy, reports: StorageReports = StorageReports()
  ) -> LocalStoreConfiguration {
    // The pending writes of the cache must not reach an empty backend that replaces unusable data.
    guard let identity = connection.identity else {
      return LocalStoreConfiguration(location: .memory, policy: policy, database: database)
    }
    return LocalStoreConfiguration(
      location: cache, policy: policy, database: database,
      claim: CacheClaim(identity, replacesOthers: isBesideData),
      report: reports.report("hearth.cache"))
  }

  /// Whether the cache is in the data folder of the embedded backend.
  private var isBesideData: Bool {
    if case .embedded = backend { return !isCacheNamed }
    return false
  }

  /// Whether there may be data to read: on a server, or in a folder that contains data.
  package var hasData: Bool {
    switch backend {
    case .embedded(let folder?): LocalBackend.exists(in: folder)
    case .embedded(nil): Surroundings.current.keepsConnections
    case .remote: true
    }
  }

  /// Rejects a folder without data for read-only commands, because these must not create a folder whose name was
  /// mistyped.
  /// - Throws: `CommandFailure` if the user named a folder without data.
  package func requireData() throws(CommandFailure) {
    guard isDataNamed, case .embedded(let folder?) = backend, !LocalBackend.exists(in: folder) else { return }
    throw CommandFailure(
      .noInput, "no data in \(folder). Check --data. The dashboard and write commands create the data.")
  }

  /// The cache for a client that never sends, used by commands that only read the cache. If the user named a folder, it
  /// must contain a cache. Otherwise a missing cache counts as empty.
  /// - Parameter isMade: whether to create a missing cache.
  package func readStore(isMade: Bool) throws(CommandFailure) -> LocalStoreConfiguration {
    var configuration = LocalStoreConfiguration(location: cache, policy: .never, database: database)
    configuration.report = { StandardError.write("hearth: \($0)") }
    guard !isMade, case .directory(let folder) = cache, !LocalStore.exists(in: folder) else { return configuration }
    if isCacheNamed || isDataNamed {
      throw CommandFailure(
        .noInput, "no cache in \(folder). Check --cache and --data. The dashboard creates one.")
    }
    configuration.location = .memory
    return configuration
  }
}

extension CommandFailure {
  /// A failure to use the cache that a command needs.
  package init(cache error: StoreError) {
    let exit: ExitStatus =
      switch error.kind {
      case .locked, .gone: .unavailable
      case .foreign, .newerSchema: .configuration
      case .notWritable, .notPrivate: .permissionDenied
      case .corrupt: .badData
      case .diskFull, .uncertain: .tryAgain
      case .refused, .leaseLost, .injected, .sqlite: .failure
      }
    self.init(exit, error.message)
  }
}

extension EmulatorControl {
  package init(_ remote: RemoteBackend) {
    self.init(remote.endpoint, remote.credentials, isTrusting: remote.allowsInsecureCredentials)
  }

  /// Creates the control interface of an emulator. Returns `nil` for other backends.
  package init?(of backend: BackendChoice) {
    guard case .remote(let remote) = backend, !remote.endpoint.isGoogle else { return nil }
    self.init(remote)
  }
}

/// The name that identifies this process to other processes that use the same data.
package enum ProgramName {
  /// The name `hearth` and the command's name. In tests, this is the name of the test program.
  package static let ofProcess: String = {
    guard SharedData.processName == "hearth" else { return SharedData.processName }
    // Only the dashboard runs without a command name, and it accepts only options.
    let first = CommandLine.arguments.dropFirst().first ?? ""
    return "hearth " + (first.isEmpty || first.hasPrefix("-") ? "dashboard" : first)
  }()
}

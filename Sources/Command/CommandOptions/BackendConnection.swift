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

/// The backend that the options name; `BackendConnection` opens it.
package enum BackendChoice: Hashable, Sendable {
  /// A backend in a folder, which any number of processes use together; `nil` keeps the data in this process's memory.
  case embedded(folder: String?)
  case remote(RemoteBackend)

  package var isEmbedded: Bool { if case .embedded = self { true } else { false } }
}

/// A backend that is spoken to over gRPC.
package struct RemoteBackend: Hashable, Sendable {
  package enum Identity: Hashable, Sendable {
    /// The fixed token that emulators accept as an administrator's.
    case owner
    /// The administrator, by the secret in this file.
    case admin(secretFile: String)
    /// The application's default credentials, or a file of them.
    case application(file: String?)
  }

  package var endpoint: Endpoint
  package var identity: Identity
  /// Whether credentials may go to a host over a connection that others can read.
  package var allowsInsecureCredentials = false

  package init(endpoint: Endpoint, identity: Identity, allowsInsecureCredentials: Bool = false) {
    (self.endpoint, self.identity, self.allowsInsecureCredentials) = (endpoint, identity, allowsInsecureCredentials)
  }

  package var credentials: Credentials {
    switch identity {
    case .owner: .emulatorOwner
    case .admin(let file): .secret(file: file)
    case .application(let file):
      .application(file: file, environment: ProcessInfo.processInfo.environment, now: { .now })
    }
  }
}

/// The way to one database of a backend. One case of `BackendChoice`, one case here; commands know only the datastore.
package struct BackendConnection: Sendable {
  package let database: DatabaseID
  package var datastore: any Datastore
  /// The reason why the data is not where the user expects it.
  package let problem: StorageNotice?
  /// The identity that the client's cache must have; `nil` for an empty backend in place of unusable data, and for data
  /// of which nothing is known yet.
  package let identity: CacheIdentity?
  /// The data that this process shares with others; `nil` for data in memory, and for servers.
  package var data: SharedData?

  /// Opens a connection for a command: unusable data is an error. A shell's open connection is used again.
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
          StandardError.remark("\(folder) is on a read-only file system; this reads a copy of it.")
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

  /// Opens a connection for the dashboard. Unusable data is replaced by an empty backend in memory; data of another
  /// process that does not answer counts as unreachable for now.
  /// - Parameter reports: the way of remarks about the data to the screen.
  /// - Throws: `corrupt`: in place of damaged data an empty backend would take the writes that wait for it.
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

  /// - Parameter problem: the problem of the data that this backend replaces.
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

  /// Opens no connection yet: a wrong address or wrong credentials fail the first call.
  private init(_ remote: RemoteBackend, _ database: DatabaseID) {
    self.database = database
    identity = .server(remote.endpoint.text, database)
    datastore = GRPCDatastore(
      remote.endpoint, database: database, credentials: remote.credentials,
      allowsInsecureCredentials: remote.allowsInsecureCredentials)
    problem = nil
  }

  /// Another database of the same backend.
  package func sibling(_ other: DatabaseID, of choice: BackendChoice) throws(CommandFailure) -> BackendConnection {
    if let data { return BackendConnection(data, other) }
    return try .open(choice, other)
  }

  /// The database as it was at a time, for reading only; as it is for `nil`.
  package func at(_ time: Timestamp?) -> BackendConnection {
    guard let time else { return self }
    var past = self
    past.datastore = PastDatastore(base: datastore, time: SnapshotVersion(time))
    return past
  }

  /// The backend's name in the dashboard, known before it is open.
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
  /// Opens the way to the database; unusable data is an error.
  package func connect() throws(CommandFailure) -> BackendConnection { try BackendConnection.open(backend, database) }

  /// The cache of a command's client that may send: in memory, unless a user named one, since the writes that wait in
  /// the dashboard's own cache are for the dashboard to send.
  package func commandStore(for connection: BackendConnection) -> LocalStoreConfiguration {
    var store = store(for: connection, .never)
    if !isCacheNamed { store.location = .memory }
    return store
  }

  /// The cache of a client that may send; its identity must be that of the connection's database.
  /// - Parameter reports: the way of remarks about the cache to a screen.
  package func store(
    for connection: BackendConnection, _ policy: GarbageCollectionPolicy, reports: StorageReports = StorageReports()
  ) -> LocalStoreConfiguration {
    // An empty backend in place of unusable data must not get the writes that wait in the cache.
    guard let identity = connection.identity else {
      return LocalStoreConfiguration(location: .memory, policy: policy, database: database)
    }
    return LocalStoreConfiguration(
      location: cache, policy: policy, database: database,
      claim: CacheClaim(identity, replacesOthers: isBesideData),
      report: reports.report("hearth.cache"))
  }

  /// Whether the cache lies in the folder of the embedded backend's data.
  private var isBesideData: Bool {
    if case .embedded = backend { return !isCacheNamed }
    return false
  }

  /// Whether there can be data to read: on a server, or in a folder that has some.
  package var hasData: Bool {
    switch backend {
    case .embedded(let folder?): LocalBackend.exists(in: folder)
    case .embedded(nil): Surroundings.current.keepsConnections
    case .remote: true
    }
  }

  /// Refuses a folder without data for commands that only read, so that a mistyped folder is not made.
  /// - Throws: `CommandFailure` if a user named a folder in which there is no data.
  package func requireData() throws(CommandFailure) {
    guard isDataNamed, case .embedded(let folder?) = backend, !LocalBackend.exists(in: folder) else { return }
    throw CommandFailure(
      .noInput, "there is no data in \(folder). Check --data; commands that write, and the dashboard, begin it.")
  }

  /// The cache of a client that never sends, for commands that only look at it. A folder that a user named must hold
  /// one; anywhere else a missing one counts as empty.
  /// - Parameter isMade: whether a missing cache is made.
  package func readStore(isMade: Bool) throws(CommandFailure) -> LocalStoreConfiguration {
    var configuration = LocalStoreConfiguration(location: cache, policy: .never, database: database)
    configuration.report = { StandardError.write("hearth: \($0)") }
    guard !isMade, case .directory(let folder) = cache, !LocalStore.exists(in: folder) else { return configuration }
    if isCacheNamed || isDataNamed {
      throw CommandFailure(
        .noInput, "there is no cache in \(folder). Check --cache and --data; the dashboard makes one.")
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

  /// `nil` for backends that are no emulators.
  package init?(of backend: BackendChoice) {
    guard case .remote(let remote) = backend, !remote.endpoint.isGoogle else { return nil }
    self.init(remote)
  }
}

/// The name under which other processes that use the same data know this one.
package enum ProgramName {
  /// `hearth` with its command; for the tests, the name of their program.
  package static let ofProcess: String = {
    guard SharedData.processName == "hearth" else { return SharedData.processName }
    // Only the dashboard is run without its name, and it takes options alone.
    let first = CommandLine.arguments.dropFirst().first ?? ""
    return "hearth " + (first.isEmpty || first.hasPrefix("-") ? "dashboard" : first)
  }()
}

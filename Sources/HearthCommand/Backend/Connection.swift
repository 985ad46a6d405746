// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreBackend
import FirestoreGRPC
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite
import Foundation
import Logging

/// Which backend the options name; `Connection` opens it.
enum BackendChoice: Hashable, Sendable {
  /// Inside this process, in a folder that one process uses at a time; `nil` keeps the data in memory.
  case embedded(folder: String?)
  case remote(RemoteBackend)

  var isEmbedded: Bool { if case .embedded = self { true } else { false } }
}

/// A backend that is spoken to over gRPC.
struct RemoteBackend: Hashable, Sendable {
  enum Identity: Hashable, Sendable {
    /// Whom emulators take for an administrator.
    case owner
    /// The application's default credentials, or a file of them.
    case application(file: String?)
  }

  var endpoint: Endpoint
  var identity: Identity
  /// Whether credentials go to a host where others could take them.
  var allowsInsecureCredentials = false
}

/// The way to one database of a backend. One case of `BackendChoice`, one case here; commands know only the datastore.
struct Connection: Sendable {
  let database: DatabaseID
  let datastore: any Datastore
  /// Why the data is not where the user expects it.
  let problem: StorageNotice?
  /// Whose the client's cache must be; `nil` for an empty backend in place of data that cannot be used.
  let identity: CacheIdentity?

  /// For commands: data that cannot be used is an error.
  static func open(_ choice: BackendChoice, _ database: DatabaseID) throws(CommandFailure) -> Connection {
    switch choice {
    case .embedded(let folder):
      do throws(StoreError) {
        let backend = try openBackend(in: folder) { StandardError.write("hearth: \($0)") }
        return Connection(backend, database, problem: nil)
      } catch {
        throw CommandFailure(opening: error)
      }
    case .remote(let remote): return Connection(remote, database)
    }
  }

  /// For the dashboard, which shows what it can: data that cannot be used is replaced by an empty backend in memory.
  /// What else is to be said goes to the log.
  /// - Throws: `corrupt`: beside damaged data an empty backend would take the writes that wait for it.
  static func openOrFallBack(
    _ choice: BackendChoice, _ database: DatabaseID, _ durability: BackendConfiguration.Durability = .normal
  ) throws(StoreError) -> Connection {
    switch choice {
    case .embedded(let folder):
      let problem: StorageNotice
      do throws(StoreError) {
        let backend = try openBackend(in: folder, durability, pageCacheBytes: 4 << 20) { Logger(label: "backend").warning("\($0)") }
        return Connection(backend, database, problem: nil)
      } catch  where folder != nil && error.kind != .corrupt {
        problem = StorageNotice(backend: error)
      }
      return Connection(try openBackend(in: nil), database, problem: problem, isStandIn: true)
    case .remote(let remote): return Connection(remote, database)
    }
  }

  private static func openBackend(
    in folder: String?, _ durability: BackendConfiguration.Durability = .normal,
    pageCacheBytes: Int = BackendConfiguration.usualPageCacheBytes,
    report: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(StoreError) -> LocalBackend {
    var configuration = BackendConfiguration(
      location: folder.map { .directory($0) } ?? .memory, durability: durability, now: { .now }, report: report)
    configuration.pageCacheBytes = pageCacheBytes
    return try LocalBackend(configuration)
  }

  private init(_ backend: LocalBackend, _ database: DatabaseID, problem: StorageNotice?, isStandIn: Bool = false) {
    identity = isStandIn ? nil : .embedded(backend.instance, database)
    self.database = database
    datastore = InProcessDatastore(backend: backend, database: database)
    self.problem = problem
  }

  /// Nothing is opened here: what is wrong with address or credentials is the answer to the first call.
  private init(_ remote: RemoteBackend, _ database: DatabaseID) {
    let credentials: Credentials =
      switch remote.identity {
      case .owner: .emulatorOwner
      case .application(let file):
        .application(file: file, environment: ProcessInfo.processInfo.environment, now: { .now })
      }
    self.database = database
    identity = .server(remote.endpoint.text, database)
    datastore = GRPCDatastore(
      remote.endpoint, database: database, credentials: credentials,
      allowsInsecureCredentials: remote.allowsInsecureCredentials)
    problem = nil
  }

  /// The backend as the dashboard names it, known before it is open.
  static func name(_ choice: BackendChoice, _ database: DatabaseID) -> DashboardConfiguration.Backend {
    switch choice {
    case .embedded: DashboardConfiguration.Backend(.embedded, project: database.project, database: database.database)
    case .remote(let remote):
      DashboardConfiguration.Backend(
        remote.identity == .owner ? .emulator : .cloud, project: database.project, database: database.database,
        host: remote.endpoint.text, isTLS: remote.endpoint.isTLS)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreGRPC
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite
import FirestoreSharing
import Synchronization

/// A backend that a client uses.
struct OpenBackend {
  let datastore: any Datastore
  /// The database that the client's cache must belong to; `nil` for a backend of which nothing is known.
  let identity: CacheIdentity?
}

extension Backend {
  /// Connects as a new `Firestore` does. A backend that cannot be opened counts as one that cannot be reached.
  package func connect(to database: DatabaseID) -> any Datastore {
    do throws(FirestoreError) {
      return try resolved(FirestoreSettings()).open(for: database).datastore
    } catch {
      return UnavailableDatastore(because: error.message)
    }
  }
}

extension ResolvedBackend {
  /// Opens the way to one database of the backend, and the backend itself if it is not open yet.
  /// - Parameters:
  ///   - user: the user of the app, for servers.
  ///   - appCheck: the proof that calls come from the app, for servers.
  /// - Throws: an error with which every call fails, such as `failedPrecondition` for embedded data that another
  ///   process has open without sharing it.
  func open(
    for database: DatabaseID, as user: UserAuthorization? = nil, appCheck: AppCheckToken? = nil
  ) throws(FirestoreError) -> OpenBackend {
    switch self {
    case .server(let server): return try Self.connect(to: server, database, as: user, appCheck)
    case .datastore(let custom): return OpenBackend(datastore: custom.datastore, identity: nil)
    case .inMemory(let name):
      let backend = try Self.opening { () throws(StoreError) in
        if let name { return try OpenBackends.memory(named: name) }
        return try LocalBackend(BackendConfiguration(location: .memory, now: FirestoreModel.Timestamp.now))
      }
      return OpenBackend(
        datastore: InProcessDatastore(backend: backend, database: database),
        identity: .memory(name ?? "", database))
    case .embedded(let directory):
      let data = try Self.opening { () throws(StoreError) in
        // Waits for a holder of the data that is slow to answer: the owner of the cache must be known before it is
        // opened.
        try SharedData.open(Backend.absolute(directory) + "/backend")
      }
      return OpenBackend(
        datastore: data.datastore(for: database), identity: data.instance.map { .embedded($0, database) })
    }
  }

  private static func opening<Opened>(
    _ open: () throws(StoreError) -> Opened
  ) throws(FirestoreError) -> Opened {
    do throws(StoreError) {
      return try open()
    } catch {
      throw FirestoreError(FirestoreError.Code(error.status.code), "The embedded backend: \(error.message)")
    }
  }
}

/// The backends in the memory of this process that several apps share.
private enum OpenBackends {
  private static let memory = Mutex<[String: LocalBackend]>([:])

  /// The backend of that name, opened once. It stays open as long as the process: nothing else would keep its data
  /// between two clients.
  static func memory(named name: String) throws(StoreError) -> LocalBackend {
    try memory.withLock { open -> Result<LocalBackend, StoreError> in
      if let backend = open[name] { return .success(backend) }
      return Result { () throws(StoreError) in
        let backend = try LocalBackend(BackendConfiguration(location: .memory, now: FirestoreModel.Timestamp.now))
        open[name] = backend
        return backend
      }
    }.get()
  }
}

/// A backend that could not be opened. The client behaves as if it could not be reached: reads come from the cache,
/// writes wait, and the reason stands in its online state.
package struct UnavailableDatastore: Datastore {
  private let status: RPCStatus

  package init(because reason: String) { status = RPCStatus(.unavailable, reason) }

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) { throw status }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) { throw status }

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse { throw status }
  package func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer { throw status }
  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) { throw status }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreGRPC
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite
import FirestoreSharing
import Foundation
import Synchronization

/// The server side of an app: the Firestore backend to which it connects.
public struct Backend: Hashable, Sendable {
  enum Kind: Hashable {
    case standard
    case embedded(directory: String)
    case inMemory(name: String?)
    case remote(RemoteCredentials)
    case datastore(CustomDatastore)
  }

  /// The clock, thread and random source that the app's clients use. Backends that differ only in these are equal.
  private struct Around: Hashable {
    var surroundings = ClientSurroundings()
    static func == (left: Around, right: Around) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  let kind: Kind
  private var around = Around()
  var surroundings: ClientSurroundings { around.surroundings }
  var clock: any Clock<Duration> { surroundings.clock }

  init(kind: Kind) { self.kind = kind }

  /// The default backend of programs and of all Hearth commands: the emulator or `hearth serve` at the address in
  /// `FIRESTORE_EMULATOR_HOST`, or `embedded` if the variable is not set.
  public static var standard: Backend { Backend(kind: .standard) }

  /// The embedded backend, which stores its data under `$XDG_DATA_HOME/hearth` (`~/.local/share/hearth`).
  public static var embedded: Backend { embedded(directory: StandardDirectories.data) }

  /// The embedded backend, which stores its data in a directory, like the option `--data` of the commands.
  ///
  /// The subdirectory `cache` contains the caches of the apps. Hearth creates missing directories. If only the
  /// subdirectory `backend` contains data, Hearth uses that data instead of creating data in the directory itself. In
  /// `$XDG_DATA_HOME/hearth`, the data is always in `backend`.
  ///
  /// All apps with the same directory, in one process or several, are clients of one backend. The first process opens
  /// the data; it can be a dashboard, a command, `hearth serve` or another program. It serves the data to the user's
  /// other processes on a socket next to the data. When that process ends, another process replaces it within a second.
  ///
  /// Some processes, such as `hearth repair`, open the data without sharing it. Meanwhile every call fails with
  /// `failedPrecondition` and a message with the name of that process. Calls succeed again as soon as that process has
  /// closed the data.
  public static func embedded(directory: String) -> Backend { Backend(kind: .embedded(directory: directory)) }

  /// An embedded backend in memory. Each app has a separate backend.
  public static var inMemory: Backend { Backend(kind: .inMemory(name: nil)) }

  /// An embedded backend in memory, which lasts until this process ends. All apps that use the same name share one
  /// backend.
  public static func inMemory(named name: String) -> Backend { Backend(kind: .inMemory(name: name)) }

  /// A backend that connects to a custom datastore, such as a datastore that injects faults.
  /// - Parameter clock: measures every delay and timeout of the app's clients.
  package static func datastore(
    _ datastore: any Datastore, clock: any Clock<Duration> = ContinuousClock()
  ) -> Backend {
    Backend(kind: .datastore(CustomDatastore(datastore))).timed(by: clock)
  }

  /// A backend that connects to a custom datastore. Its clients use the clock, random source and thread of a
  /// simulation.
  package static func datastore(_ datastore: any Datastore, in surroundings: ClientSurroundings) -> Backend {
    var backend = Backend(kind: .datastore(CustomDatastore(datastore)))
    backend.around.surroundings = surroundings
    return backend
  }

  /// A copy of the backend that uses another clock for every delay and timeout of the app's clients.
  package func timed(by clock: any Clock<Duration>) -> Backend {
    var backend = self
    backend.around.surroundings.clock = clock
    return backend
  }

  /// The default cache directory of an app; `nil` for caches in memory.
  func cacheDirectory(ofApp name: String) -> String? {
    switch kind {
    case .embedded(let directory): Self.absolute(directory) + "/cache/" + PathComponent.escaped(name)
    case .standard: StandardDirectories.data + "/cache/" + PathComponent.escaped(name)
    case .remote: StandardDirectories.data + "/apps/" + PathComponent.escaped(name)
    case .inMemory, .datastore: nil
    }
  }

  /// The folder that holds the embedded backend's data: the given directory or its subfolder `backend`.
  package static func dataFolder(of directory: String) -> String {
    let inner = (directory.hasSuffix("/") ? directory : directory + "/") + "backend"
    if absolute(directory) == absolute(StandardDirectories.data) { return inner }
    return !LocalBackend.exists(in: directory) && LocalBackend.exists(in: inner) ? inner : directory
  }

  /// Returns a warning if both the directory and its subfolder `backend` contain data; otherwise `nil`.
  package static func doubleData(in directory: String) -> String? {
    let used = dataFolder(of: directory)
    guard used == directory, LocalBackend.exists(in: used), LocalBackend.exists(in: used + "/backend") else {
      return nil
    }
    return "\(used) and \(used)/backend both have data. Hearth uses the first. To copy documents from the second: "
      + "hearth copy data:\(used)/backend data:\(used)"
  }

  /// The absolute form of the directory's path, so that different spellings of one path are equal.
  static func absolute(_ directory: String) -> String {
    URL(fileURLWithPath: directory, isDirectory: true).standardizedFileURL.path
  }
}

/// Wraps a custom datastore in an object that is compared by identity, so that backends and apps are comparable.
package final class CustomDatastore: Hashable, Sendable {
  let datastore: any Datastore

  init(_ datastore: any Datastore) { self.datastore = datastore }

  package static func == (left: CustomDatastore, right: CustomDatastore) -> Bool { left === right }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The backend that a client uses, determined by its settings and the environment.
package enum ResolvedBackend: CustomStringConvertible {
  case embedded(directory: String)
  case inMemory(name: String?)
  case server(Server)
  case datastore(CustomDatastore)

  package struct Server {
    /// The address in the settings or the environment, which may be invalid.
    var address: String
    var credentials: RemoteCredentials
    var isTLS: Bool
    var allowsInsecureCredentials = false

    /// The endpoint at the address.
    /// - Throws: `invalid-argument` if the address is invalid.
    func endpoint() throws(ModelError) -> Endpoint {
      try Endpoint(
        address, defaultPort: isTLS ? 443 : 8080, security: isTLS ? .tls(trustRoots: nil) : .plaintext,
        from: "The host")
    }

    /// The server's address in a normalized form, for comparing addresses.
    var name: String { ((try? endpoint())?.text ?? address).lowercased() }

    fileprivate static func emulator(_ address: String) -> Server {
      Server(address: address, credentials: .emulatorOwner, isTLS: false)
    }
  }
}

extension ResolvedBackend {
  package var description: String {
    switch self {
    case .embedded(let directory): "embedded \(directory)"
    case .inMemory(let name): name.map { "memory \($0)" } ?? "memory"
    case .server(let server): "server \(server.name)"
    case .datastore: "custom"
    }
  }
}

extension Backend {
  static let emulatorVariable = "FIRESTORE_EMULATOR_HOST"

  package func resolved(
    _ settings: FirestoreSettings, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> ResolvedBackend {
    let settings = settings.values
    if let emulator = settings.emulator { return .server(.emulator(emulator)) }
    let emulator = environment[Self.emulatorVariable].flatMap { $0.isEmpty ? nil : $0 }
    switch kind {
    case .standard:
      return emulator.map { .server(.emulator($0)) } ?? .embedded(directory: StandardDirectories.data(environment))
    case .embedded(let directory): return .embedded(directory: directory)
    case .inMemory(let name): return .inMemory(name: name)
    case .remote(let credentials):
      if settings.host == nil, let emulator { return .server(.emulator(emulator)) }
      return .server(
        ResolvedBackend.Server(
          address: settings.host ?? Self.cloudHost, credentials: credentials, isTLS: settings.isSSLEnabled,
          allowsInsecureCredentials: settings.allowsInsecureCredentials))
    case .datastore(let custom): return .datastore(custom)
    }
  }
}

extension Backend {
  static let cloudHost = "firestore.googleapis.com"

  /// Cloud Firestore, or another server that uses its protocol: an emulator, or `hearth serve`.
  /// `FirestoreSettings.host` and `isSSLEnabled` set the server's address. If no host is set, the environment variable
  /// `FIRESTORE_EMULATOR_HOST` sets the address.
  ///
  /// An invalid address or an unreachable server is not an error. The client works offline and retries the connection.
  /// Requests that need the server fail with the reason.
  public static func remote(_ credentials: RemoteCredentials = .applicationDefault) -> Backend {
    Backend(kind: .remote(credentials))
  }
}

extension ResolvedBackend {
  /// Connects to a server. An invalid address counts as an unreachable server.
  /// - Throws: `failedPrecondition` if the credentials would be sent in plain text.
  static func connect(
    to server: Server, _ database: DatabaseID, as user: UserAuthorization?, _ appCheck: AppCheckToken?
  ) throws(FirestoreError) -> OpenBackend {
    let identity = CacheIdentity.server(server.name, database)
    let endpoint: Endpoint
    do throws(ModelError) {
      endpoint = try server.endpoint()
    } catch {
      return OpenBackend(datastore: UnavailableDatastore(because: error.message), identity: identity)
    }
    let credentials = user.map { .user($0) } ?? server.credentials.credentials
    // A server that is configured as an emulator receives user tokens even without TLS.
    let isTrusting = server.allowsInsecureCredentials || (user != nil && server.credentials == .emulatorOwner)
    if !isTrusting, let refusal = credentials.refusal(at: endpoint) {
      throw FirestoreError(refusal)
    }
    let datastore = GRPCDatastore(
      endpoint, database: database, credentials: credentials,
      allowsInsecureCredentials: isTrusting, appCheck: appCheck)
    return OpenBackend(datastore: datastore, identity: identity)
  }
}

/// A client's credentials for a remote backend.
public struct RemoteCredentials: Hashable, Sendable {
  private enum Kind: Hashable {
    case application(file: String?)
    case token(Secret)
    case owner
  }

  private let kind: Kind

  /// The default credentials, as in Google's libraries (Application Default Credentials). Hearth uses the first that it
  /// finds: the file that `GOOGLE_APPLICATION_CREDENTIALS` names, the file that `gcloud auth application-default login`
  /// creates, or the service account of a machine at Google.
  public static let applicationDefault = RemoteCredentials(kind: .application(file: nil))

  /// The key file of a service account, or a file of type `authorized_user`. The file is read on first use.
  public static func file(_ path: String) -> RemoteCredentials { RemoteCredentials(kind: .application(file: path)) }

  /// An access token that you obtained elsewhere. Hearth never renews it.
  public static func token(_ token: String) -> RemoteCredentials { RemoteCredentials(kind: .token(Secret(token))) }

  /// The token `owner`. Emulators treat a client with this token as an administrator.
  public static let emulatorOwner = RemoteCredentials(kind: .owner)

  fileprivate var credentials: Credentials {
    switch kind {
    case .application(let file):
      .application(file: file, environment: ProcessInfo.processInfo.environment, now: FirestoreModel.Timestamp.now)
    case .token(let token): .fixed(token)
    case .owner: .emulatorOwner
    }
  }
}

extension Firestore {
  /// Connects without TLS to an emulator, or to `hearth serve`, regardless of the app's backend.
  ///
  /// Call this function before the first use of the instance. If you call it later, or with an invalid host or port,
  /// nothing changes, and every call fails with the reason. Late assignments to `settings` have the same effect.
  /// - Parameters:
  ///   - host: a name or an address, without a port.
  ///   - port: 1…65535.
  public func useEmulator(withHost host: String, port: Int) {
    guard !host.isEmpty, (1...65535).contains(port) else {
      return refuse(
        .invalidArgument("useEmulator needs a host and a port from 1 to 65535, not \"\(host)\" and \(port)."))
    }
    let settings = settings
    // An IPv6 address contains colons itself.
    settings.setEmulator(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)")
    self.settings = settings
  }
}

/// A backend that a client is using.
struct OpenBackend {
  let datastore: any Datastore
  /// The database that the client's cache must belong to; `nil` if the backend is unknown.
  let identity: CacheIdentity?
}

extension Backend {
  /// Connects to a database in the same way as a new `Firestore`. If the backend cannot be opened, it counts as
  /// unreachable.
  package func connect(to database: DatabaseID) -> any Datastore {
    do throws(FirestoreError) {
      return try resolved(FirestoreSettings()).open(for: database).datastore
    } catch {
      return UnavailableDatastore(because: error.message)
    }
  }
}

extension ResolvedBackend {
  /// Connects to one database of the backend, and opens the backend if necessary.
  /// - Parameters:
  ///   - user: the app's user; used only if the backend is a server.
  ///   - appCheck: the app's App Check token; used only if the backend is a server.
  /// - Throws: the error that every call then reports, such as `failedPrecondition` if another process uses the
  ///   embedded data without sharing it.
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
      if let warning = Backend.doubleData(in: directory) { ClientLog.warn(warning, database) }
      let data = try Self.opening { () throws(StoreError) in
        // Waits even if the process that holds the data answers slowly, because the cache needs the data's identity.
        try SharedData.open(Backend.absolute(Backend.dataFolder(of: directory)))
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

/// The named in-memory backends that apps of this process share.
private enum OpenBackends {
  private static let memory = Mutex<[String: LocalBackend]>([:])

  /// The backend with this name, opened on first use. The backend remains open until the process ends, so that its data
  /// survives the end of its last client.
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

/// Replaces a backend that could not be opened. The client treats it as unreachable: reads use the cache, writes wait,
/// and the online state contains the reason.
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

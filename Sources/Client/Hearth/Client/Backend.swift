// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreGRPC
import FirestoreModel
package import FirestoreProtocol
import Foundation

/// The server side of an app.
public struct Backend: Hashable, Sendable {
  enum Kind: Hashable {
    case standard
    case embedded(directory: String)
    case inMemory(name: String?)
    case remote(RemoteCredentials)
    case datastore(CustomDatastore)
  }

  /// The surroundings of the app's clients. Backends that differ only in them are equal.
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

  /// The backend of a program that names none, as of every command: the emulator or `hearth serve` that the variable
  /// `FIRESTORE_EMULATOR_HOST` names, and `embedded` without it.
  public static var standard: Backend { Backend(kind: .standard) }

  /// The embedded backend, durable under `$XDG_DATA_HOME/hearth` (`~/.local/share/hearth`).
  public static var embedded: Backend { embedded(directory: StandardDirectories.data) }

  /// The embedded backend, durable in `backend` below a directory; the caches of its apps lie in `cache` beside it.
  /// Both are made if need be. All apps that name the same directory are clients of one backend, in one process or in
  /// many: the first process (a dashboard, a command, `hearth serve`, another program) has the data open and serves it
  /// to the other processes of its user on a socket beside it; when that process ends, another takes its place within a
  /// second. While a process has the data open that does not share it, such as `hearth repair`, every call fails with
  /// `failedPrecondition` and a message that names the process; the next call after it is closed works.
  public static func embedded(directory: String) -> Backend { Backend(kind: .embedded(directory: directory)) }

  /// An embedded backend that lives in memory and is the app's own.
  public static var inMemory: Backend { Backend(kind: .inMemory(name: nil)) }

  /// An embedded backend that lives in memory as long as this process; apps that give the same name are its clients.
  public static func inMemory(named name: String) -> Backend { Backend(kind: .inMemory(name: name)) }

  /// Any other datastore, such as one that injects faults.
  /// - Parameter clock: measures every delay and timeout of the app's clients.
  package static func datastore(
    _ datastore: any Datastore, clock: any Clock<Duration> = ContinuousClock()
  ) -> Backend {
    Backend(kind: .datastore(CustomDatastore(datastore))).timed(by: clock)
  }

  /// Any other datastore, whose clients have the time, the chance and the thread of a simulation.
  package static func datastore(_ datastore: any Datastore, in surroundings: ClientSurroundings) -> Backend {
    var backend = Backend(kind: .datastore(CustomDatastore(datastore)))
    backend.around.surroundings = surroundings
    return backend
  }

  /// The same backend with another clock, which measures every delay and timeout of the app's clients.
  package func timed(by clock: any Clock<Duration>) -> Backend {
    var backend = self
    backend.around.surroundings.clock = clock
    return backend
  }

  /// The directory for the caches of an app that names none; `nil` for caches in memory.
  func cacheDirectory(ofApp name: String) -> String? {
    switch kind {
    case .embedded(let directory): Self.absolute(directory) + "/cache/" + PathComponent.escaped(name)
    case .standard: StandardDirectories.data + "/cache/" + PathComponent.escaped(name)
    case .remote: StandardDirectories.data + "/apps/" + PathComponent.escaped(name)
    case .inMemory, .datastore: nil
    }
  }

  /// The directory's absolute path, so that one directory has one spelling.
  static func absolute(_ directory: String) -> String {
    URL(fileURLWithPath: directory, isDirectory: true).standardizedFileURL.path
  }
}

/// A datastore with the identity that makes apps comparable.
package final class CustomDatastore: Hashable, Sendable {
  let datastore: any Datastore

  init(_ datastore: any Datastore) { self.datastore = datastore }

  package static func == (left: CustomDatastore, right: CustomDatastore) -> Bool { left === right }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The backend that a client talks to, once its settings and the environment have been asked.
package enum ResolvedBackend: CustomStringConvertible {
  case embedded(directory: String)
  case inMemory(name: String?)
  case server(Server)
  case datastore(CustomDatastore)

  package struct Server {
    /// The address as it was given, which need not be a valid one.
    var address: String
    var credentials: RemoteCredentials
    var isTLS: Bool
    var allowsInsecureCredentials = false

    /// The endpoint at the address.
    /// - Throws: `invalid-argument` for an invalid address.
    func endpoint() throws(ModelError) -> Endpoint {
      try Endpoint(
        address, defaultPort: isTLS ? 443 : 8080, security: isTLS ? .tls(trustRoots: nil) : .plaintext,
        from: "The host")
    }

    /// The server's address in one spelling.
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

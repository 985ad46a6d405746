// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreModel
import Foundation

/// Which backend a client talks to, once its settings and the environment have been asked.
package enum ResolvedBackend: CustomStringConvertible {
  case embedded(directory: String)
  case inMemory(name: String?)
  case server(Server)
  case datastore(CustomDatastore)

  package struct Server {
    /// As it was given; it may be none.
    var address: String
    var credentials: RemoteCredentials
    var isTLS: Bool
    var allowsInsecureCredentials = false

    /// - Throws: `invalid-argument` for an address that is none.
    func endpoint() throws(ModelError) -> Endpoint {
      try Endpoint(
        address, defaultPort: isTLS ? 443 : 8080, security: isTLS ? .tls(trustRoots: nil) : .plaintext,
        from: "The host")
    }

    /// One spelling for one server.
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

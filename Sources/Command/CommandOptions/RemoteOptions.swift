// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreGRPC
import FirestoreModel

/// The options that name a backend outside of this process. They are declared in `StorageOptions` instead of a nested
/// option group, because debug builds validate nested groups repeatedly.
package struct RemoteOptions {
  var emulator: String?
  package var cloud: Bool
  package var credentials: String?
  var host: String?
  var trust: String?
  var adminSecret: String?
  var insecureCredentials: Bool
  /// The app user as whom the command sends requests; `nil` for an administrator.
  var user: ActingUser?

  /// - Throws: `ValidationError` for conflicting options.
  func validate() throws {
    if emulator != nil, cloud || credentials != nil || host != nil {
      throw ValidationError(
        "--emulator already names a backend. Remove --cloud, --credentials and --host.")
    }
    if adminSecret != nil, cloud || credentials != nil {
      throw ValidationError("--admin-secret is for 'hearth serve', not for Cloud Firestore. Remove it.")
    }
    if user != nil, cloud || credentials != nil || host != nil || adminSecret != nil {
      throw ValidationError("--as is for 'hearth serve' and emulators. Name the server with --emulator only.")
    }
    if insecureCredentials, host == nil {
      throw ValidationError(
        "--insecure-credentials is for a server that is not Google's. Add --host.")
    }
    if trust != nil, emulator == nil, host == nil, credentials == nil, !cloud {
      throw ValidationError("--trust needs TLS. Add --emulator or --host.")
    }
    do {
      _ = try named()
    } catch {
      throw ValidationError(error.message)
    }
  }

  /// The backend that the options or `FIRESTORE_EMULATOR_HOST` name; `nil` for the embedded backend.
  /// - Throws: for an invalid address.
  func choice(environment: [String: String]) throws(ModelError) -> RemoteBackend? {
    if let remote = try named() { return remote }
    if let address = environment[Self.emulatorVariable], !address.isEmpty {
      return try emulator(
        at: try Endpoint(address, defaultPort: 8080, security: .plaintext, from: Self.emulatorVariable))
    }
    guard user == nil else {
      throw ModelError("--as needs 'hearth serve' or an emulator. Name the server with --emulator.")
    }
    guard adminSecret == nil else {
      throw ModelError(
        "--admin-secret needs a server. Add --emulator or --host.")
    }
    return nil
  }

  private func named() throws(ModelError) -> RemoteBackend? {
    if let emulator {
      let security = trust.map { Endpoint.Security.tls(trustRoots: $0) } ?? .plaintext
      return try self.emulator(
        at: try Endpoint(emulator, defaultPort: 8080, security: security, from: "--emulator"))
    }
    if cloud || credentials != nil || host != nil {
      var endpoint = Endpoint.cloudFirestore
      endpoint.security = .tls(trustRoots: trust)
      if let host {
        endpoint = try Endpoint(host, defaultPort: 443, security: endpoint.security, from: "--host")
      }
      return RemoteBackend(
        endpoint: endpoint, identity: adminSecret.map { .admin(secretFile: $0) } ?? .application(file: credentials),
        allowsInsecureCredentials: insecureCredentials)
    }
    return nil
  }

  private func emulator(at endpoint: Endpoint) throws(ModelError) -> RemoteBackend {
    if let user {
      // The token is not secret: it has no signature.
      return RemoteBackend(endpoint: endpoint, identity: .user(user), allowsInsecureCredentials: true)
    }
    guard let adminSecret else { return RemoteBackend(endpoint: endpoint, identity: .owner) }
    guard endpoint.isLoopback || endpoint.isTLS else {
      throw ModelError(
        "--admin-secret would send the secret to \(endpoint.text) in plain text. "
          + "Start the server with --tls-cert, and pass the certificate with --trust.")
    }
    return RemoteBackend(
      endpoint: endpoint, identity: .admin(secretFile: adminSecret), allowsInsecureCredentials: !endpoint.isTLS)
  }

  /// The project that the environment or the key file names, and the name of that source.
  func project(environment: [String: String]) -> (id: String, source: String)? {
    for variable in ["GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"] {
      if let project = environment[variable], !project.isEmpty { return (project, "$" + variable) }
    }
    guard emulator == nil, let id = Credentials.project(file: credentials, environment: environment) else { return nil }
    return (id, credentials ?? "the credentials file")
  }

  static let emulatorVariable = "FIRESTORE_EMULATOR_HOST"
}

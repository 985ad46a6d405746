// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import Foundation

extension Backend {
  static let cloudHost = "firestore.googleapis.com"

  /// Cloud Firestore, or another server of its protocol: an emulator, or `hearth serve`. `FirestoreSettings.host` and
  /// `isSSLEnabled` give its address; without a host, the variable `FIRESTORE_EMULATOR_HOST` does.
  ///
  /// An invalid address, or a server that cannot be reached, is no error: the client works offline and tries again, and
  /// its requests to the server fail with the reason.
  public static func remote(_ credentials: RemoteCredentials = .applicationDefault) -> Backend {
    Backend(kind: .remote(credentials))
  }
}

extension ResolvedBackend {
  /// Makes the way to a server; an invalid address counts as a server that cannot be reached.
  /// - Throws: `failedPrecondition` for credentials that would travel in plain text.
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
    // A server that was named as an emulator gets its users' tokens without TLS.
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

/// The identity with which a client calls a remote backend.
public struct RemoteCredentials: Hashable, Sendable {
  private enum Kind: Hashable {
    case application(file: String?)
    case token(Secret)
    case owner
  }

  private let kind: Kind

  /// The credentials that Google's libraries would find: the file that `GOOGLE_APPLICATION_CREDENTIALS` names, else
  /// what `gcloud auth application-default login` left, else the machine's service account, if the machine is one of
  /// Google's.
  public static let applicationDefault = RemoteCredentials(kind: .application(file: nil))

  /// The key file of a service account, or a file of the kind `authorized_user`. The file is read when it is first
  /// needed.
  public static func file(_ path: String) -> RemoteCredentials { RemoteCredentials(kind: .application(file: path)) }

  /// An access token that the program got elsewhere. Nothing renews it.
  public static func token(_ token: String) -> RemoteCredentials { RemoteCredentials(kind: .token(Secret(token))) }

  /// The owner's token, with which emulators accept a client as an administrator.
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
  /// Speaks without TLS to an emulator, or to `hearth serve`, whatever the app's backend is.
  ///
  /// Takes effect only before the first use: later, or with a wrong host or port, nothing changes and every call fails
  /// with the reason, as for `settings`.
  /// - Parameters:
  ///   - host: a name or an address, without a port.
  ///   - port: 1…65535.
  public func useEmulator(withHost host: String, port: Int) {
    guard !host.isEmpty, (1...65535).contains(port) else {
      return refuse(
        .invalidArgument("useEmulator needs a host and a port of 1…65535, not \"\(host)\" and \(port)."))
    }
    let settings = settings
    // An IPv6 address contains colons itself.
    settings.setEmulator(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)")
    self.settings = settings
  }
}

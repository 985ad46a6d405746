// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Synchronization

/// Who the client is to the backend. Hands out `authorization` headers and renews what they are made of in time.
package final class Credentials: Sendable {
  enum Source: Sendable {
    case fixed(Secret)
    case serviceAccount(ServiceAccountKey)
    case authorizedUser(AuthorizedUser)
    case metadataServer(HTTPURL)
  }

  let source: Source
  private let now: @Sendable () -> Timestamp
  private let trustRoots: String?
  private let token = Mutex<AccessToken?>(nil)

  /// - Parameter trustRoots: a PEM file to trust instead of the system's certificates when a token is fetched.
  init(_ source: Source, trustRoots: String? = nil, now: @escaping @Sendable () -> Timestamp) {
    self.source = source
    self.trustRoots = trustRoots
    self.now = now
  }

  /// What emulators take for an administrator, whom no security rule holds.
  package static let emulatorOwner = Credentials.fixed(Secret("owner"))

  /// A token from elsewhere, which nothing renews.
  package static func fixed(_ token: Secret) -> Credentials {
    Credentials(.fixed(token), now: { Timestamp(seconds: 0) })
  }

  /// Whether a refused token can be replaced by another one.
  var canRefresh: Bool {
    if case .fixed = source { false } else { true }
  }

  /// The next call gets a new token.
  func forgetToken() { token.withLock { $0 = nil } }

  /// The header's value: `Bearer …`. From the last token while that is good; two calls that find none may both fetch
  /// one, and either will do.
  func authorization() async throws(RPCStatus) -> String {
    let time = now().seconds
    if let token = token.withLock({ $0 }), token.isUsable(at: time) { return "Bearer " + token.secret.revealed }
    let fresh = try await fetch(at: time)
    token.withLock { $0 = fresh }
    return "Bearer " + fresh.secret.revealed
  }

  private func fetch(at time: Int64) async throws(RPCStatus) -> AccessToken {
    switch source {
    case .fixed(let secret): AccessToken(secret: secret, expiry: nil)
    case .serviceAccount(let key): try key.token(at: time)
    case .authorizedUser(let user): try await user.fetchToken(at: time, trustRoots: trustRoots)
    case .metadataServer(let url): try await MetadataServer.fetchToken(from: url, at: time)
    }
  }

  /// What somebody whose token was refused may look at; ends a sentence.
  var remedy: String {
    switch source {
    case .fixed: "The token that was given is not accepted."
    case .serviceAccount(let key):
      "Check that the key of \(key.email) is active, and this machine's clock, which says \(now().rfc3339Text)."
    case .authorizedUser: "Run \"gcloud auth application-default login\" again, and check this machine's clock."
    case .metadataServer: "Check the service account of this machine."
    }
  }
}

extension Credentials: CustomStringConvertible {
  /// The kind, and never what it is made of.
  package var description: String {
    switch source {
    case .fixed: "a fixed token"
    case .serviceAccount(let key): "the service account \(key.email)"
    case .authorizedUser: "a user's own credentials"
    case .metadataServer: "the metadata server"
    }
  }
}

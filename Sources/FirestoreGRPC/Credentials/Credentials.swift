// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Synchronization

/// Who the client is to the backend. Hands out `authorization` headers and renews what they are made of in time.
package final class Credentials: Sendable {
  enum Source: Sendable {
    case fixed(Secret)
    case serviceAccount(ServiceAccountKey)
    case authorizedUser(AuthorizedUser)
    case metadataServer(HTTPURL)
  }

  private struct State {
    /// `nil` until it is found, and again after a refusal: the file may have been replaced.
    var source: Source?
    var token: AccessToken?
  }

  private let find: @Sendable () throws(RPCStatus) -> Source
  private let now: @Sendable () -> Timestamp
  private let state = Mutex(State())

  init(now: @escaping @Sendable () -> Timestamp, find: @escaping @Sendable () throws(RPCStatus) -> Source) {
    self.find = find
    self.now = now
  }

  /// What emulators take for an administrator, whom no security rule holds.
  package static let emulatorOwner = Credentials.fixed(Secret("owner"))

  /// A token from elsewhere, which nothing renews.
  package static func fixed(_ token: Secret) -> Credentials {
    Credentials(now: { Timestamp(seconds: 0) }) { .fixed(token) }
  }

  /// Whether a refused token can be replaced by another one.
  var canRefresh: Bool {
    if case .fixed? = state.withLock({ $0.source }) { false } else { true }
  }

  /// The next call gets a new token.
  func forgetToken() { state.withLock { $0 = State() } }

  /// Finds the credentials now instead of with the first call.
  /// - Throws: `unauthenticated` with the file and what is wrong with it.
  package func check() throws(RPCStatus) { _ = try source() }

  private func source() throws(RPCStatus) -> Source {
    if let source = state.withLock({ $0.source }) { return source }
    let source = try find()
    state.withLock { $0.source = source }
    return source
  }

  /// The header's value: `Bearer …`. From the last token while that is good; two calls that find none may both fetch
  /// one, and either will do.
  func authorization() async throws(RPCStatus) -> String {
    let time = now().seconds
    if let token = state.withLock({ $0.token }), token.isUsable(at: time) { return "Bearer " + token.secret.revealed }
    let fresh = try await fetch(from: source(), at: time)
    state.withLock { $0.token = fresh }
    return "Bearer " + fresh.secret.revealed
  }

  private func fetch(from source: Source, at time: Int64) async throws(RPCStatus) -> AccessToken {
    switch source {
    case .fixed(let secret): AccessToken(secret: secret, expiry: nil)
    case .serviceAccount(let key): try key.token(at: time)
    case .authorizedUser(let user): try await user.fetchToken(at: time)
    case .metadataServer(let url): try await MetadataServer.fetchToken(from: url, at: time)
    }
  }

  /// What somebody whose token was refused may look at; ends a sentence.
  var remedy: String {
    switch state.withLock({ $0.source }) {
    case .fixed: "The token that was given is not accepted."
    case .serviceAccount(let key):
      "Check that the key of \(key.email) is active, and this machine's clock, which says \(now().rfc3339Text)."
    case .authorizedUser: "Run \"gcloud auth application-default login\" again, and check this machine's clock."
    case .metadataServer: "Check the service account of this machine."
    case nil: "Check the credentials, and this machine's clock."
    }
  }
}

extension Credentials: CustomStringConvertible {
  /// The kind, and never what it is made of.
  package var description: String {
    switch state.withLock({ $0.source }) {
    case .fixed: "a fixed token"
    case .serviceAccount(let key): "the service account \(key.email)"
    case .authorizedUser: "a user's own credentials"
    case .metadataServer: "the metadata server"
    case nil: "credentials that were not needed yet"
    }
  }
}

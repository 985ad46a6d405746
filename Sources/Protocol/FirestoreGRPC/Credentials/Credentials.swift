// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Synchronization

/// The client's identity for the backend. Creates `authorization` headers and renews their tokens in time.
package final class Credentials: Sendable {
  enum Source: Sendable {
    case fixed(Secret)
    case serviceAccount(ServiceAccountKey)
    case authorizedUser(AuthorizedUser)
    case metadataServer(HTTPURL)
    case user(UserAuthorization)

    /// Whether the source grants tokens without an audience, which are valid for more than one server.
    var isAccessToken: Bool {
      switch self {
      case .authorizedUser, .metadataServer: true
      // A program that supplies a token controls which servers receive it.
      case .fixed, .serviceAccount, .user: false
      }
    }
  }

  private struct State {
    /// The source of tokens; `nil` until it is found. It is reset after a rejection, because the file may have been
    /// replaced.
    var source: Source?
    var token: AccessToken?
    /// The audience of the current token; `nil` if the token has none.
    var audience: String?
  }

  /// Whether these are the administrator credentials of emulators, which are not secret.
  package let isEmulatorOwner: Bool
  private let find: @Sendable () throws(RPCStatus) -> Source
  private let now: @Sendable () -> Timestamp
  private let state = Mutex(State())

  init(
    isEmulatorOwner: Bool = false, now: @escaping @Sendable () -> Timestamp,
    find: @escaping @Sendable () throws(RPCStatus) -> Source
  ) {
    self.isEmulatorOwner = isEmulatorOwner
    self.find = find
    self.now = now
  }

  /// The administrator credentials of emulators, which bypass security rules.
  package static let emulatorOwner = Credentials.fixed(Secret("owner"))

  /// The credentials that represent an app's user.
  package static func user(_ user: UserAuthorization) -> Credentials {
    Credentials(now: { Timestamp(seconds: 0) }) { .user(user) }
  }

  /// Credentials with a fixed token, which Hearth never renews.
  package static func fixed(_ token: Secret) -> Credentials {
    Credentials(isEmulatorOwner: token.revealed == "owner", now: { Timestamp(seconds: 0) }) { .fixed(token) }
  }

  /// Whether a token that was rejected can be replaced.
  var canRefresh: Bool {
    if case .fixed? = state.withLock({ $0.source }) { false } else { true }
  }

  /// Drops the token, so that the next call gets a new one. A fixed token is kept.
  func forgetToken() {
    state.withLock { state in
      switch state.source {
      case .fixed?: break
      case .user(let user)?: user.forgetToken()
      case .serviceAccount?, .authorizedUser?, .metadataServer?, nil: state = State()
      }
    }
  }

  /// Finds the credentials now instead of at the first call.
  /// - Throws: `unauthenticated`, naming the file and the mistake in it.
  package func check() throws(RPCStatus) { _ = try source() }

  private func source() throws(RPCStatus) -> Source {
    if let source = state.withLock({ $0.source }) { return source }
    let source = try find()
    state.withLock { $0.source = source }
    return source
  }

  /// The reason why no credentials, whatever their source, may be sent to an endpoint; `nil` if they may be sent. A
  /// token that is sent without TLS can be intercepted.
  package func refusal(at endpoint: Endpoint) -> RPCStatus? {
    if isEmulatorOwner || endpoint.isTLS { return nil }
    return RPCStatus(
      .failedPrecondition,
      "The connection to \(endpoint.text) has no TLS, so the credentials could be intercepted. "
        + "Use TLS (isSSLEnabled), declare it as an emulator (useEmulator), or set allowsInsecureCredentials.")
  }

  /// The header value `Bearer …` for calls to an endpoint. Uses the last token while it is valid. If there is no valid
  /// token, two concurrent calls may both fetch one, and either token is cached.
  ///
  /// A token that a service account signs itself is valid only for the given endpoint. An access token of a user or a
  /// machine is valid for all Google servers that the user or machine may use, so Hearth sends it only to Google.
  /// - Parameter isTrusting: whether to send the token to any endpoint, even if the connection has no TLS.
  /// - Returns: the header's value; `nil` if no user of the app is signed in.
  /// - Throws: `failed-precondition` if the credentials must not be sent to the endpoint.
  package func authorization(for endpoint: Endpoint, isTrusting: Bool = false) async throws(RPCStatus) -> String? {
    if !isTrusting, let refusal = refusal(at: endpoint) { throw refusal }
    let isFirestore = endpoint.isGoogle && endpoint.host != AdministrationCall.rulesHost
    let audience = isFirestore ? ServiceAccountKey.audience : "https://\(endpoint.host.lowercased())/"
    let time = now().seconds
    let last = state.withLock { $0.audience == audience ? $0.token : nil }
    if let last, last.isUsable(at: time) { return "Bearer " + last.secret.revealed }
    let source = try source()
    if case .user(let user) = source { return try await user.authorization() }
    if source.isAccessToken, !isTrusting, !endpoint.isGoogle {
      throw RPCStatus(
        .failedPrecondition,
        "\(endpoint.text) is not a Google server, and could use your access token for everything that you may access. "
          + "Use the key file of a service account (--credentials), or allow Hearth to send the token "
          + "(--insecure-credentials; in a program: allowsInsecureCredentials).")
    }
    let fresh = try await fetch(from: source, for: audience, at: time)
    state.withLock { ($0.token, $0.audience) = (fresh, audience) }
    return "Bearer " + fresh.secret.revealed
  }

  private func fetch(
    from source: Source, for audience: String, at time: Int64
  ) async throws(RPCStatus) -> AccessToken {
    switch source {
    case .user: preconditionFailure("A user's tokens are not cached here.")
    case .fixed(let secret): AccessToken(secret: secret, expiry: nil)
    case .serviceAccount(let key): try key.token(for: audience, at: time)
    case .authorizedUser(let user): try await user.fetchToken(at: time)
    case .metadataServer(let url): try await MetadataServer.fetchToken(from: url, at: time)
    }
  }

  /// A sentence of advice for users whose token was rejected.
  var remedy: String {
    switch state.withLock({ $0.source }) {
    case .fixed where isEmulatorOwner:
      "The server requires an administrator secret. Give the file that contains it (--admin-secret; in a program: "
        + "RemoteCredentials.token)."
    case .fixed: "The given token was rejected."
    case .serviceAccount(let key):
      "Check that the key of \(key.email) is active, and check this machine's clock: \(now().rfc3339Text)."
    case .authorizedUser: "Run \"gcloud auth application-default login\" again, and check this machine's clock."
    case .metadataServer: "Check the service account of this machine."
    case .user: "The token of the app's user was rejected."
    case nil: "Check the credentials, and this machine's clock."
    }
  }
}

extension Credentials: CustomStringConvertible {
  /// The kind of the credentials. Does not contain secrets.
  package var description: String {
    switch state.withLock({ $0.source }) {
    case .fixed: "a fixed token"
    case .serviceAccount(let key): "the service account \(key.email)"
    case .authorizedUser: "a user's own credentials"
    case .metadataServer: "the metadata server"
    case .user: "the user of an app"
    case nil: "credentials that were not needed yet"
    }
  }
}

/// A secret text. It does not appear in descriptions, dumps and string interpolations.
package struct Secret: Hashable, Sendable {
  /// The secret text itself. Pass it only to the server that it is meant for.
  let revealed: String

  package init(_ text: String) { revealed = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "(hidden)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A token that proves the caller's identity, and the time at which it expires.
struct AccessToken: Hashable, Sendable {
  var secret: Secret
  /// The expiry in seconds since 1970; `nil` if the token does not expire.
  var expiry: Int64?

  /// The number of seconds before its expiry at which a token counts as expired, so that it does not expire on the way
  /// to the server.
  static let margin: Int64 = 300

  /// Whether the token is still usable.
  /// - Parameter now: the current time, in seconds since 1970.
  func isUsable(at now: Int64) -> Bool { expiry.map { now < $0 - Self.margin } ?? true }
}

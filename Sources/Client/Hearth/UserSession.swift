// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreModel
import FirestoreSync
import Foundation
import Synchronization

/// Identifies an app's user to servers with security rules. In the rules, the user is `request.auth`. Pass the provider
/// to `FirestoreApp`. Programs sign users in with a ``UserSession``.
///
/// Every user has a separate queue of writes. While another user is signed in, a user's unsent writes wait. They are
/// never sent on behalf of another user.
public protocol CredentialsProvider: AnyObject, Sendable {
  /// The id of the signed-in user; `nil` if no user is signed in.
  var userID: String? { get }

  /// Registers a closure that is called with the new id at each change of `userID`. Call the closure before the
  /// function that changes the user returns, so that later writes belong to the new user.
  /// - Returns: a closure that ends the registration.
  func onUserChange(_ changed: @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void

  /// Returns a Firebase Authentication token for the signed-in user. Hearth calls this function before each call to the
  /// server.
  /// - Parameter forcingRefresh: true if the server rejected the last token, so that a new token is required.
  /// - Returns: the token; `nil` if no user is signed in.
  /// - Throws: the reason why no token is available. The call to the server then fails with `unavailable`, and streams
  ///   try again.
  func token(forcingRefresh: Bool) async throws -> String?
}

/// Provides Firebase App Check tokens, which prove that calls come from the app itself. Pass the provider to
/// `FirestoreApp`.
public protocol AppCheckProvider: AnyObject, Sendable {
  /// Returns a token. Hearth calls this function before each call to the server.
  /// - Parameter forcingRefresh: true if the server rejected the last token, so that a new token is required.
  /// - Throws: the reason why no token is available. The call to the server then fails with `unavailable`, and streams
  ///   try again.
  func token(forcingRefresh: Bool) async throws -> String
}

/// The user of an app, whom the program signs in and out.
///
///     let session = UserSession()
///     let app = FirestoreApp(name: "app", projectID: "shop", backend: .remote(), credentials: session)
///     session.signIn(userID: "alice") { forcingRefresh in try await auth.idToken(forcingRefresh: forcingRefresh) }
public final class UserSession: CredentialsProvider {
  private typealias Token = @Sendable (Bool) async throws -> String?

  private struct State {
    var userID: String?
    var token: Token = { _ in nil }
    var listeners: [Int: @Sendable (String?) -> Void] = [:]
    var lastListener = 0
  }

  private let state = Mutex(State())

  /// Creates a session without a signed-in user.
  public init() {}

  /// The id of the signed-in user; `nil` if no user is signed in.
  public var userID: String? { state.withLock { $0.userID } }

  /// Signs a user in. Replaces the user who was signed in before.
  /// - Parameter token: returns a Firebase Authentication token (an ID token) for this user. The argument is true if
  ///   the server rejected the last token. Hearth calls the closure before each call to the server, so the closure
  ///   should cache a token as long as the token is valid.
  public func signIn(userID: String, token: @escaping @Sendable (_ forcingRefresh: Bool) async throws -> String) {
    change(to: userID, { forcingRefresh in try await token(forcingRefresh) })
  }

  /// Signs in any user, without authentication, at an emulator or `hearth serve`. The token is unsigned, so servers
  /// with real users reject it.
  /// - Parameters:
  ///   - userID: the value of `request.auth.uid` in rules.
  ///   - claims: further members of `request.auth.token`, such as `["admin": true]`. The values must have JSON types.
  /// - Throws: `invalidArgument` if the claims cannot be written as JSON.
  public func signIn(mockUser userID: String, claims: [String: any Sendable] = [:]) throws {
    var all: [String: Any] = claims
    for (name, value) in ["sub": userID, "user_id": userID] { all[name] = value }
    let now = Int(Date().timeIntervalSince1970)
    for (name, value) in ["iat": now, "auth_time": now, "exp": now + 3600] where all[name] == nil { all[name] = value }
    if all["firebase"] == nil {
      all["firebase"] = ["sign_in_provider": "custom", "identities": [String: String]()] as [String: Any]
    }
    // Throw the error below instead of the serializer's, which would not contain the user.
    guard JSONSerialization.isValidJSONObject(all),
      let content = try? JSONSerialization.data(withJSONObject: all, options: [.sortedKeys])
    else { throw FirestoreError.invalidArgument("The claims of \(userID) cannot be written as JSON.") }
    let token = Data(#"{"alg":"none","type":"JWT"}"#.utf8).base64URLText + "." + content.base64URLText + "."
    change(to: userID, { _ in token })
  }

  /// Signs the user out.
  public func signOut() { change(to: nil) { _ in nil } }

  private func change(to userID: String?, _ token: @escaping Token) {
    // Listeners are called under the lock, so they receive changes in order.
    state.withLock { state in
      (state.userID, state.token) = (userID, token)
      for listener in state.listeners.values { listener(userID) }
    }
  }

  /// Registers a closure that is called with the new id at each change of the user, before `signIn` or `signOut`
  /// returns.
  /// - Returns: a closure that ends the registration.
  public func onUserChange(_ changed: @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void {
    let number = state.withLock { state in
      state.lastListener += 1
      state.listeners[state.lastListener] = changed
      return state.lastListener
    }
    return { [weak self] in self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) } }
  }

  /// Calls the closure passed to `signIn` and returns its token; `nil` if no user is signed in.
  public func token(forcingRefresh: Bool) async throws -> String? {
    try await state.withLock { $0.token }(forcingRefresh)
  }
}

extension Data {
  /// The bytes as base64url text (RFC 4648 §5) without padding.
  fileprivate var base64URLText: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}

/// An app's providers of the user and of App Check tokens, which the app's clients use. Two values are equal if their
/// providers are identical.
struct AppUsers: Hashable, Sendable {
  let credentials: (any CredentialsProvider)?
  let appCheck: (any AppCheckProvider)?

  static func == (left: AppUsers, right: AppUsers) -> Bool {
    left.credentials === right.credentials && left.appCheck === right.appCheck
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(credentials.map { ObjectIdentifier($0) })
    hasher.combine(appCheck.map { ObjectIdentifier($0) })
  }

  /// Creates the authorization that one client uses for the user's calls; `nil` if the app has no credentials provider.
  func authorization() -> UserAuthorization? {
    guard let credentials else { return nil }
    return UserAuthorization(user: credentials.userID, current: { credentials.userID }) {
      forcingRefresh throws(RPCStatus) in
      do { return try await credentials.token(forcingRefresh: forcingRefresh) } catch {
        throw RPCStatus(.unavailable, "The app's credentials provider returned no token for its user: \(error).")
      }
    }
  }

  /// The function that returns App Check tokens; `nil` if the app does not use App Check.
  var appCheckToken: AppCheckToken? {
    guard let appCheck else { return nil }
    return { forcingRefresh throws(RPCStatus) in
      do { return try await appCheck.token(forcingRefresh: forcingRefresh) } catch {
        throw RPCStatus(.unavailable, "The app's App Check provider returned no token: \(error).")
      }
    }
  }
}

/// Notifies a client of changes of the app's user.
struct UserChanges: Sendable {
  private let credentials: any CredentialsProvider
  private let authorization: UserAuthorization
  /// The user at the time when the client opens.
  let first: String?

  init(_ credentials: any CredentialsProvider, _ authorization: UserAuthorization) {
    self.credentials = credentials
    self.authorization = authorization
    first = authorization.user
  }

  /// Reports each change of the user to the engine, before the engine receives any call for the new user.
  /// - Returns: a function that stops the reporting.
  func follow(_ engine: SyncEngine) -> @Sendable () -> Void {
    let authorization = authorization
    let last = Mutex(first)
    let change: @Sendable (String?) -> Void = { user in
      last.withLock { last in
        // Streams continue with the old token if only the token has changed.
        if user == last { return }
        last = user
        authorization.beginChange()
        engine.changeUser(to: user) { authorization.endChange(to: user) }
      }
    }
    let end = credentials.onUserChange(change)
    // A user may have signed in before the listener was added.
    change(credentials.userID)
    return end
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreModel
import FirestoreSync
import Foundation
import Synchronization

/// The source of an app's user, for servers with security rules (`request.auth` in them). Pass it to `FirestoreApp`.
/// Programs sign users in with a ``UserSession``.
///
/// Every user has a separate queue of writes. One user's offline writes wait while another user is signed in, and are
/// never sent as another user.
public protocol CredentialsProvider: AnyObject, Sendable {
  /// The id of the signed-in user; `nil` for the signed-out user.
  var userID: String? { get }

  /// Registers a closure that is called with the new id at each change of `userID`, before the call that changes it
  /// returns. Therefore, writes that a program makes after it signs in a user belong to that user.
  /// - Returns: a closure that ends the registration.
  func onUserChange(_ changed: @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void

  /// Returns a Firebase Authentication token for the signed-in user. Called for each call to the server.
  /// - Parameter forcingRefresh: whether the last token was rejected, so that a new one is required.
  /// - Returns: the token; `nil` for the signed-out user.
  /// - Throws: the reason why no token is available; the call fails with `unavailable`, and streams try again.
  func token(forcingRefresh: Bool) async throws -> String?
}

/// Proves that calls come from the app itself (Firebase App Check). Pass it to `FirestoreApp`.
public protocol AppCheckProvider: AnyObject, Sendable {
  /// Returns a token. Called for each call to the server.
  /// - Parameter forcingRefresh: whether the last token was rejected, so that a new one is required.
  /// - Throws: the reason why no token is available; the call fails with `unavailable`, and streams try again.
  func token(forcingRefresh: Bool) async throws -> String
}

/// The user of an app. The program signs the user in and out.
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

  /// The id of the signed-in user; `nil` for the signed-out user.
  public var userID: String? { state.withLock { $0.userID } }

  /// Signs a user in, and replaces the present one.
  /// - Parameter token: returns a Firebase Authentication token (an ID token) for this user. Its argument says whether
  ///   the last token was rejected. Each call to the server calls it, so it should cache a token while it is valid.
  public func signIn(userID: String, token: @escaping @Sendable (_ forcingRefresh: Bool) async throws -> String) {
    change(to: userID, { forcingRefresh in try await token(forcingRefresh) })
  }

  /// Signs in any user at an emulator or `hearth serve`. The token is unsigned, so servers with real users reject it.
  /// - Parameters:
  ///   - userID: `request.auth.uid` in rules.
  ///   - claims: further members of `request.auth.token`, such as `["admin": true]`, of JSON types.
  /// - Throws: `invalidArgument` for claims that cannot be written as JSON.
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

  /// Registers a closure to be called with the new id at each change, before `signIn` or `signOut` returns.
  /// - Returns: a closure that ends the registration.
  public func onUserChange(_ changed: @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void {
    let number = state.withLock { state in
      state.lastListener += 1
      state.listeners[state.lastListener] = changed
      return state.lastListener
    }
    return { [weak self] in self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) } }
  }

  /// Returns the token from the closure of `signIn`; `nil` for the signed-out user.
  public func token(forcingRefresh: Bool) async throws -> String? {
    try await state.withLock { $0.token }(forcingRefresh)
  }
}

extension Data {
  /// The base64url text (RFC 4648 §5) without padding.
  fileprivate var base64URLText: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}

/// The providers of an app's user and of App Check, for its clients. Two values are equal if their providers are
/// identical.
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

  /// The authorization of the user's calls, for one client; `nil` without a user provider.
  func authorization() -> UserAuthorization? {
    guard let credentials else { return nil }
    return UserAuthorization(user: credentials.userID, current: { credentials.userID }) {
      forcingRefresh throws(RPCStatus) in
      do { return try await credentials.token(forcingRefresh: forcingRefresh) } catch {
        throw RPCStatus(.unavailable, "The app's credentials provider returned no token for its user: \(error).")
      }
    }
  }

  /// The function that returns App Check tokens; `nil` without App Check.
  var appCheckToken: AppCheckToken? {
    guard let appCheck else { return nil }
    return { forcingRefresh throws(RPCStatus) in
      do { return try await appCheck.token(forcingRefresh: forcingRefresh) } catch {
        throw RPCStatus(.unavailable, "The app's App Check provider returned no token: \(error).")
      }
    }
  }
}

/// The user changes that a client follows.
struct UserChanges: Sendable {
  private let credentials: any CredentialsProvider
  private let authorization: UserAuthorization
  /// The initial user of the client.
  let first: String?

  init(_ credentials: any CredentialsProvider, _ authorization: UserAuthorization) {
    self.credentials = credentials
    self.authorization = authorization
    first = authorization.user
  }

  /// Reports each change of the user to the engine, before any call for the new user.
  /// - Returns: a function that ends this.
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

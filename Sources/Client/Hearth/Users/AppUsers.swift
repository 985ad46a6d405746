// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreModel
import FirestoreSync
import Synchronization

/// The providers of an app's user and of App Check, as its clients need them; two values are equal if their providers
/// are the same.
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

  /// The authorization of the user's calls, for one client; `nil` without users.
  func authorization() -> UserAuthorization? {
    guard let credentials else { return nil }
    return UserAuthorization(user: credentials.userID, current: { credentials.userID }) {
      forcingRefresh throws(RPCStatus) in
      do { return try await credentials.token(forcingRefresh: forcingRefresh) } catch {
        throw RPCStatus(.unavailable, "The app's credentials provider gave no token for its user: \(error).")
      }
    }
  }

  /// The function that gets tokens of App Check; `nil` without App Check.
  var appCheckToken: AppCheckToken? {
    guard let appCheck else { return nil }
    return { forcingRefresh throws(RPCStatus) in
      do { return try await appCheck.token(forcingRefresh: forcingRefresh) } catch {
        throw RPCStatus(.unavailable, "The app's App Check provider gave no token: \(error).")
      }
    }
  }
}

/// The changes of user that a client follows.
struct UserChanges: Sendable {
  private let credentials: any CredentialsProvider
  private let authorization: UserAuthorization
  /// The user with whom the client begins.
  let first: String?

  init(_ credentials: any CredentialsProvider, _ authorization: UserAuthorization) {
    self.credentials = credentials
    self.authorization = authorization
    first = authorization.user
  }

  /// Lets the engine follow each change of the user, before anything is asked of it in the new user's name.
  /// - Returns: a function that ends the following.
  func follow(_ engine: SyncEngine) -> @Sendable () -> Void {
    let authorization = authorization
    let last = Mutex(first)
    let change: @Sendable (String?) -> Void = { user in
      last.withLock { last in
        // The same user with another token: streams go on with the old one.
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

// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreModel
import FirestoreSync
import Synchronization

/// Who uses an app, as its clients need it: two are the same if their providers are.
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

  /// For one client; `nil` without users.
  func authorization() -> UserAuthorization? {
    guard let credentials else { return nil }
    return UserAuthorization(user: credentials.userID, current: { credentials.userID }) {
      forcingRefresh throws(RPCStatus) in
      do { return try await credentials.token(forcingRefresh: forcingRefresh) } catch {
        throw RPCStatus(.unavailable, "The app's credentials provider gave no token for its user: \(error).")
      }
    }
  }

  /// `nil` without App Check.
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
  /// As whom the client begins.
  let first: String?

  init(_ credentials: any CredentialsProvider, _ authorization: UserAuthorization) {
    self.credentials = credentials
    self.authorization = authorization
    first = authorization.user
  }

  /// Has the engine follow each change before whatever is asked of it next.
  /// - Returns: what ends that when it is called.
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
    // Who signed in before.
    change(credentials.userID)
    return end
  }
}

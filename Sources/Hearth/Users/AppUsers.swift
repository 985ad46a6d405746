// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreModel
import FirestoreSync

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
  private let authorization: UserAuthorization?
  private let changes: AsyncStream<String?>
  /// As whom the client begins.
  let first: String?

  /// Nothing that happens from now on is missed.
  init(_ credentials: any CredentialsProvider, _ authorization: UserAuthorization?) {
    self.credentials = credentials
    self.authorization = authorization
    changes = credentials.userChanges()
    first = authorization?.user
  }

  /// Has the engine follow until the task is cancelled.
  func follow(_ engine: SyncEngine) async {
    var last = first
    // Who signed in before the changes were asked for.
    await change(engine, to: credentials.userID, &last)
    for await _ in changes { await change(engine, to: credentials.userID, &last) }
  }

  private func change(_ engine: SyncEngine, to user: String?, _ last: inout String?) async {
    // The same user with another token: streams go on with the old one.
    if user == last { return }
    last = user
    authorization?.beginChange()
    await engine.changeUser(to: user)
    authorization?.endChange(to: user)
  }
}

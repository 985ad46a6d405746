// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Synchronization

/// Gets a token of Firebase App Check.
/// - Parameter forcingRefresh: whether the last token was rejected.
package typealias AppCheckToken = @Sendable (_ forcingRefresh: Bool) async throws(RPCStatus) -> String

/// The user of a client; all calls are made as this user. While the user changes, calls wait until the client has
/// processed the change. So no write of one user is sent as another user.
package final class UserAuthorization: Sendable {
  /// Gets a token for the user.
  /// - Parameter forcingRefresh: whether the last token was rejected.
  /// - Returns: a token of Firebase Authentication; `nil` if no user is signed in.
  package typealias Token = @Sendable (_ forcingRefresh: Bool) async throws(RPCStatus) -> String?

  private struct State {
    var user: String?
    /// The number of user changes that the client has not processed yet.
    var changes = 0
    var needsRefresh = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>
  private let current: @Sendable () -> String?
  private let token: Token

  /// Creates the authorization of a client.
  /// - Parameters:
  ///   - user: the client's initial user.
  ///   - current: returns the signed-in user.
  package init(user: String?, current: @escaping @Sendable () -> String?, token: @escaping Token) {
    state = Mutex(State(user: user))
    self.current = current
    self.token = token
  }

  /// The user of all calls; `nil` if no user is signed in.
  package var user: String? { state.withLock { $0.user } }

  /// Starts a user change. Calls wait until it ends.
  package func beginChange() { state.withLock { $0.changes += 1 } }

  /// Ends a user change, after the client has processed it. Calls are then made as this user.
  package func endChange(to user: String?) {
    let waiting = state.withLock { state in
      (state.user, state.needsRefresh) = (user, false)
      state.changes -= 1
      if state.changes > 0 { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Makes the next call request a new token.
  func forgetToken() { state.withLock { $0.needsRefresh = true } }

  /// The value `Bearer …` of the header; `nil` if no user is signed in.
  /// - Throws: `unavailable` if another user has just signed in and the client has not been notified yet.
  package func authorization() async throws(RPCStatus) -> String? {
    await settle()
    let (user, needsRefresh) = state.withLock { state in
      defer { state.needsRefresh = false }
      return (state.user, state.needsRefresh)
    }
    let token = try await token(needsRefresh)
    guard current() == user else { throw RPCStatus(.unavailable, "The user is changing.") }
    return token.map { "Bearer " + $0 }
  }

  private func settle() async {
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if state.changes > 0 { state.waiting.append(continuation) }
        return state.changes == 0
      }
      if isSettled { continuation.resume() }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Synchronization

/// Gets a token of Firebase App Check.
/// - Parameter forcingRefresh: whether the server rejected the last token, so that a new token is required.
package typealias AppCheckToken = @Sendable (_ forcingRefresh: Bool) async throws(RPCStatus) -> String

/// The user on whose behalf a client makes all calls. While the user changes, calls wait until the client has processed
/// the change. Therefore no user's write is sent on behalf of another user.
package final class UserAuthorization: Sendable {
  /// Gets a token for the user.
  /// - Parameter forcingRefresh: whether the server rejected the last token, so that a new token is required.
  /// - Returns: a Firebase Authentication token; `nil` if no user is signed in.
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
  ///   - user: the user at the time when the client opens.
  ///   - current: returns the id of the currently signed-in user.
  package init(user: String?, current: @escaping @Sendable () -> String?, token: @escaping Token) {
    state = Mutex(State(user: user))
    self.current = current
    self.token = token
  }

  /// The user on whose behalf all calls are made; `nil` if no user is signed in.
  package var user: String? { state.withLock { $0.user } }

  /// Starts a change of the user. Calls wait until the change ends.
  package func beginChange() { state.withLock { $0.changes += 1 } }

  /// Ends a change of the user, which the client has now processed. Calls are then made on behalf of the new user.
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

  /// The header value `Bearer …`; `nil` if no user is signed in.
  /// - Throws: `unavailable` if another user has just signed in and the client has not been notified yet.
  package func authorization() async throws(RPCStatus) -> String? {
    await settle()
    let (user, needsRefresh) = state.withLock { state in
      defer { state.needsRefresh = false }
      return (state.user, state.needsRefresh)
    }
    let token = try await token(needsRefresh)
    guard current() == user else { throw RPCStatus(.unavailable, "The user has just changed. Try again.") }
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

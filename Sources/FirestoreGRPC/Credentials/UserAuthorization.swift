// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Synchronization

/// A token of Firebase App Check.
/// - Parameter forcingRefresh: the last one was refused.
package typealias AppCheckToken = @Sendable (_ forcingRefresh: Bool) async throws(RPCStatus) -> String

/// The user of a client: calls are made in their name, and never in that of another. While the user changes calls wait
/// until the client has changed too, so that nothing that one wrote is sent as another's.
package final class UserAuthorization: Sendable {
  /// - Parameter forcingRefresh: the last token was refused.
  /// - Returns: a token of Firebase Authentication; `nil` for nobody.
  package typealias Token = @Sendable (_ forcingRefresh: Bool) async throws(RPCStatus) -> String?

  private struct State {
    var user: String?
    /// Changes that the client has yet to follow.
    var changes = 0
    var needsRefresh = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>
  private let current: @Sendable () -> String?
  private let token: Token

  /// - Parameters:
  ///   - user: as whom the client begins.
  ///   - current: who is signed in.
  package init(user: String?, current: @escaping @Sendable () -> String?, token: @escaping Token) {
    state = Mutex(State(user: user))
    self.current = current
    self.token = token
  }

  /// For whom calls are made.
  package var user: String? { state.withLock { $0.user } }

  /// Calls wait from now on.
  package func beginChange() { state.withLock { $0.changes += 1 } }

  /// The client has changed: calls are made for this user.
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

  /// The next call asks for another token.
  func forgetToken() { state.withLock { $0.needsRefresh = true } }

  /// `Bearer …`; `nil` for nobody.
  /// - Throws: `unavailable` when somebody else has signed in, which the client learns next.
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

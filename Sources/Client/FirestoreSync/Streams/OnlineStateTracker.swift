// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState

/// Decides when the client counts as offline: after the first failed attempt to open the watch stream, or after 10 s
/// without an answer (SDK online_state_tracker: MAX_WATCH_STREAM_FAILURES, ONLINE_STATE_TIMEOUT_MS).
package struct OnlineStateTracker: Sendable {
  package static let timeout = Duration.seconds(10)
  private static let maximumFailures = 1

  package enum TimerChange: Hashable, Sendable { case none, start, cancel }

  package private(set) var state = OnlineState.unknown
  private var failures = 0
  private var isTimerRunning = false

  package init() {}

  /// An attempt to open the watch stream begins.
  package mutating func watchStreamStarted() -> TimerChange {
    guard failures == 0 else { return .none }
    state = .unknown
    guard !isTimerRunning else { return .none }
    isTimerRunning = true
    return .start
  }

  /// The attempt failed. After having been online this only means that nothing is known any more.
  package mutating func watchStreamFailed() -> TimerChange {
    if state == .online {
      state = .unknown
      return .none
    }
    failures += 1
    guard failures >= Self.maximumFailures else { return .none }
    state = .offline
    return stopTimer()
  }

  /// No answer within the timeout.
  package mutating func timedOut() {
    guard isTimerRunning else { return }
    isTimerRunning = false
    state = .offline
  }

  /// The state is known from elsewhere: a message arrived, or the network was switched.
  package mutating func set(_ state: OnlineState) -> TimerChange {
    failures = 0
    self.state = state
    return stopTimer()
  }

  private mutating func stopTimer() -> TimerChange {
    guard isTimerRunning else { return .none }
    isTimerRunning = false
    return .cancel
  }
}

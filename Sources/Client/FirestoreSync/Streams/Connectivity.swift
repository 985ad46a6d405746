// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel

/// The client's connection to the backend as a whole: whether the network is used, and whether the backend is
/// reachable.
struct Connectivity: Sendable {
  private var use = NetworkUse()
  private var tracker = OnlineStateTracker()

  // MARK: The use of the network

  var isUsed: Bool { use.isAllowed }
  var isEnabled: Bool { !use.isStopped(by: .disabledByUser) }
  var hasStorageFailed: Bool { use.isStopped(by: .storageFailed) }
  /// Whether the client must not send pending writes.
  var holdsWrites: Bool { use.holdsWrites }

  /// Records a reason not to use the network.
  /// - Returns: whether this cause did not exist before.
  @discardableResult
  mutating func stop(by cause: NetworkUse.OfflineCause) -> Bool { use.stop(by: cause) }

  /// Removes a reason not to use the network.
  /// - Returns: whether this cause existed.
  @discardableResult
  mutating func clear(_ cause: NetworkUse.OfflineCause) -> Bool { use.clear(cause) }

  // MARK: The backend

  /// The last failure to reach the backend. `nil` after the backend has answered, or while the client does not contact
  /// the backend.
  var failure: RPCStatus? { use.failure }

  /// The online state of the watch stream, which determines the listeners' snapshots, as in the SDKs.
  var onlineState: OnlineState { tracker.state }

  /// The online state of the watch stream. If this state is unknown, a failure of either stream changes the result to
  /// offline.
  var stateOfEitherStream: OnlineState {
    tracker.state == .unknown && use.failure != nil ? .offline : tracker.state
  }

  /// Records that a stream could not be opened, or ended before the backend answered.
  mutating func failed(_ status: RPCStatus) { use.failed(status) }

  /// Removes the record of the last failure, because the backend has answered or the client no longer contacts it.
  mutating func forgetFailure() { use.forgetFailure() }

  /// Changes the online state.
  /// - Returns: the change to the timer that waits for the watch stream's first answer.
  mutating func changeOnlineState(
    _ change: (inout OnlineStateTracker) -> OnlineStateTracker.TimerChange
  ) -> [SyncEffect] {
    switch change(&tracker) {
    case .none: []
    case .start: [.schedule(.onlineTimeout, after: OnlineStateTracker.timeout)]
    case .cancel: [.cancel(.onlineTimeout)]
    }
  }
}

/// The client's use of the network: the reasons not to use it, and the last failure to reach the backend.
struct NetworkUse: Sendable {
  /// A reason not to use the network. The client uses the network only if there is no such reason.
  enum OfflineCause: Hashable, Sendable {
    case disabledByUser
    /// The store failed. Until it works again, the client must not receive messages, because it could not store their
    /// content.
    case storageFailed
    case userChanging
    /// Another client that shares the cache runs the streams.
    case secondary
  }

  private var causes: Set<OfflineCause> = []
  /// The last failure to reach the backend, even if the client has requested nothing since. It is removed when the
  /// backend answers, or when the network setting or the user changes.
  private(set) var failure: RPCStatus?

  var isAllowed: Bool { causes.isEmpty }

  func isStopped(by cause: OfflineCause) -> Bool { causes.contains(cause) }

  /// Whether the client must not send pending writes. False if the only reason is that another client runs the streams,
  /// because the other client sends the writes.
  var holdsWrites: Bool { !causes.isSubset(of: [.secondary]) }

  /// Records a reason not to use the network.
  /// - Returns: whether this cause did not exist before.
  @discardableResult
  mutating func stop(by cause: OfflineCause) -> Bool { causes.insert(cause).inserted }

  /// Removes a reason not to use the network.
  /// - Returns: whether this cause existed.
  @discardableResult
  mutating func clear(_ cause: OfflineCause) -> Bool { causes.remove(cause) != nil }

  mutating func failed(_ status: RPCStatus) { failure = status }

  /// Removes the record of the last failure, because the backend has answered or the client no longer contacts it.
  mutating func forgetFailure() { failure = nil }
}

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

  /// Records that the client begins to open the watch stream.
  package mutating func watchStreamStarted() -> TimerChange {
    guard failures == 0 else { return .none }
    state = .unknown
    guard !isTimerRunning else { return .none }
    isTimerRunning = true
    return .start
  }

  /// Records that the attempt to open the watch stream failed. If the state was online, it becomes unknown, not
  /// offline.
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

  /// Records that no answer arrived within the timeout.
  package mutating func timedOut() {
    guard isTimerRunning else { return }
    isTimerRunning = false
    state = .offline
  }

  /// Sets the online state because a message arrived, or because the network was enabled or disabled.
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

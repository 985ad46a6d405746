// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel

/// The client's connection to the backend as a whole: whether the network is used, and whether the backend is there.
struct Connectivity: Sendable {
  private var use = NetworkUse()
  private var tracker = OnlineStateTracker()

  // MARK: The use of the network

  var isUsed: Bool { use.isAllowed }
  var isEnabled: Bool { !use.isStopped(by: .disabledByUser) }
  var hasStorageFailed: Bool { use.isStopped(by: .storageFailed) }
  /// Whether pending writes are held.
  var holdsWrites: Bool { use.holdsWrites }

  /// - Returns: whether this reason is new.
  @discardableResult
  mutating func stop(by cause: NetworkUse.OfflineCause) -> Bool { use.stop(by: cause) }

  /// - Returns: whether there was this reason.
  @discardableResult
  mutating func clear(_ cause: NetworkUse.OfflineCause) -> Bool { use.clear(cause) }

  // MARK: The backend

  /// The last failure to reach the backend, until it answers or is not asked any more.
  var failure: RPCStatus? { use.failure }

  /// The online state as known from the watch stream, by which snapshots for listeners go, as in the SDKs.
  var onlineState: OnlineState { tracker.state }

  /// The online state as known from either stream.
  var stateOfEitherStream: OnlineState {
    tracker.state == .unknown && use.failure != nil ? .offline : tracker.state
  }

  /// Notes that a stream could not be opened, or ended before it was answered.
  mutating func failed(_ status: RPCStatus) { use.failed(status) }

  /// Forgets the last failure: the backend has answered, or is not asked any more.
  mutating func forgetFailure() { use.forgetFailure() }

  /// Changes the online state.
  /// - Returns: the effects on the timer of the watch stream's first answer.
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

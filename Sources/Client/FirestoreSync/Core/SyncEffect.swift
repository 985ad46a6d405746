// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol

/// An effect that a transition of `SyncCore` wants outside. Effects are performed in order (S1, S3, S7).
package enum SyncEffect: Sendable {
  /// The backend's answer to a batch, or the reason why it will never get one.
  case complete(BatchID, Result<CommitResponse, RPCStatus>)
  /// All snapshots of one transition, in one go (S1).
  case deliver([SnapshotDelivery])
  /// The failure of listeners, which are over.
  case fail([ListenerID], RPCStatus)
  /// All writes that were pending when the wait began are done, or never will be.
  case finishWait(PendingWritesWait, RPCStatus?)
  case open(StreamKind, StreamEpoch, after: Duration)
  case close(StreamKind, StreamEpoch)
  /// A message for the open stream is ready to be taken.
  case wake(StreamKind)
  /// Replaces an earlier schedule of the same timer.
  case schedule(SyncTimer, after: Duration)
  case cancel(SyncTimer)
  /// The client with the streams does not take a write back.
  case refuseCancellation(BatchID, RPCStatus)
  /// The client is over: another one that shares the cache deletes the cache.
  case shutDown(RPCStatus)
}

extension [SyncEffect] {
  /// Whether all snapshots that one change caused are there now: observers of this are told once, however many
  /// snapshots there were.
  package var bringSnapshotsInSync: Bool { contains { if case .deliver = $0 { true } else { false } } }
}

package struct SnapshotDelivery: Sendable {
  package var listener: ListenerID
  package var snapshot: ViewSnapshot
}

/// Names one call of `waitForPendingWrites`.
package struct PendingWritesWait: Hashable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
}

package enum SyncTimer: Hashable, Sendable, CaseIterable {
  /// The time is over in which a started watch stream should have answered.
  case onlineTimeout
  case watchIdle
  case writeIdle
  /// Tries the oldest operation that the store failed to perform.
  case storeRetry
  case garbageCollection
  /// Does a slice of indexing documents that were cached before their index.
  case indexBackfill
  /// Announces that this client is there, and finds out whether it is primary.
  case leaseRefresh
  /// Takes back writes that were not sent before their deadline.
  case writeDeadline
}

/// Names a listener for as long as the engine lives.
package struct ListenerID: Hashable, Comparable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
  package static func < (left: ListenerID, right: ListenerID) -> Bool { left.rawValue < right.rawValue }
}

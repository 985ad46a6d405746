// SPDX-License-Identifier: Apache-2.0
import FirestoreSync

/// The conditions under which a write is made and sent.
///
/// ```swift
/// let bid = try auction.enqueueUpdate(["bid": 120], options: WriteOptions(deadline: .seconds(10), failsIfOffline: true))
/// ```
public struct WriteOptions: Hashable, Sendable {
  /// The time that the write may wait to be sent; `nil`, the default, for as long as it takes.
  ///
  /// A write that was not sent when its time is over is taken back: its local change is undone,
  /// ``WriteHandle/acknowledged`` fails with `deadlineExceeded`, and it is not among ``Firestore/rejectedWrites``.
  ///
  /// A write that was sent is not taken back, also if its answer does not come and it waits to be sent again: the
  /// backend may have applied it. Its handle waits for the answer, however long that takes.
  ///
  /// The deadline belongs to this process. A write that is still queued when the process ends is sent by the next one,
  /// without a deadline.
  public var deadline: Duration?

  /// Whether the write is refused while the backend is known to be out of reach; `false` is the default.
  ///
  /// Both stages of a refused write fail with `unavailable`, and nothing is written here either. The backend is known
  /// to be out of reach while the network is disabled, and after an attempt to reach it has failed; not before the
  /// first attempt. A write that is accepted waits if the backend is lost afterwards: a ``deadline`` bounds that.
  public var failsIfOffline: Bool

  /// - Parameters:
  ///   - deadline: the time that the write may wait to be sent.
  ///   - failsIfOffline: whether the write is refused while the backend is known to be out of reach.
  public init(deadline: Duration? = nil, failsIfOffline: Bool = false) {
    self.deadline = deadline
    self.failsIfOffline = failsIfOffline
  }

  var conditions: WriteConditions { WriteConditions(deadline: deadline, failsIfOffline: failsIfOffline) }
}

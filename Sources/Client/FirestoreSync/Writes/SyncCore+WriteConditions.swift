// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
import FirestoreSQLite

extension SyncCore {
  /// The pause after which a write whose time is over is looked at again, if it could not be taken back.
  private static let pauseAfterFailure = Duration.seconds(1)

  /// Makes a write under conditions, otherwise like `write(_:at:)`.
  /// - Throws: `unavailable` for a write that is not to be made offline, and errors of the store; then nothing happened.
  package mutating func write(
    _ mutations: [Mutation], _ conditions: WriteConditions, at now: Timestamp
  ) throws(RPCStatus) -> BatchID {
    if conditions.failsIfOffline, let reason = reasonForOffline {
      throw RPCStatus(.unavailable, "Nothing was written: \(reason).")
    }
    let id: BatchID
    do throws(StoreError) { id = try write(mutations, at: now) } catch { throw error.status }
    if let deadline = conditions.deadline {
      writes.deadlines.set(now + deadline, of: id)
      scheduleDeadline(at: now)
    }
    return id
  }

  /// The reason why the backend is known to be out of reach; `nil` while it answers, or was not asked yet.
  private var reasonForOffline: String? {
    if !isNetworkEnabled { return "the network is switched off" }
    return onlineState == .offline ? "the backend is out of reach" : nil
  }

  /// Takes back the writes whose deadline has passed before they were sent for the first time; they fail with
  /// `deadline-exceeded`. A write that was sent goes on to be sent until it is answered.
  package mutating func expireWrites(at now: Timestamp) {
    for id in writes.deadlines.passed(at: now, where: writes.queue.contains) {
      guard writes.queue.attempts(of: id) == 0 else {
        writes.deadlines.remove(id)
        continue
      }
      do throws(StoreError) {
        if isPrimary {
          try takeBack(id, .missedDeadline(id))
        } else {
          writes.deadlines.remove(id)
          writes.deadlines.askedToTakeBack(id)
          try store.askToCancel(id)
        }
      } catch {
        // The write waits on, and is looked at again.
        writes.deadlines.set(now + Self.pauseAfterFailure, of: id)
      }
    }
    scheduleDeadline(at: now)
    sendWrites()
  }

  /// Sets the timer for the next deadline of a waiting write.
  mutating func scheduleDeadline(at now: Timestamp) {
    guard let next = writes.deadlines.earliest(where: writes.queue.contains) else { return }
    output.append(.schedule(.writeDeadline, after: max(.zero, next - now)))
  }
}

extension SyncCore {
  /// Takes a write out of the queue that was not sent, and keeps it among the rejected ones: it can be sent again from
  /// there. Its local change is undone, and its write fails with `cancelled`.
  /// - Throws: `not-found` for a batch that is not pending, `failed-precondition` for one in flight, or if another
  ///   client of the cache has the streams; and errors of the store.
  package mutating func setWriteAside(_ id: BatchID, at now: Timestamp) throws(RPCStatus) {
    if let objection = objectionToCancelling(id) { throw objection }
    guard isPrimary else {
      throw RPCStatus(
        .failedPrecondition, "Another program has this cache's streams, and alone sets writes aside.")
    }
    do throws(StoreError) {
      let rejection = Rejection(status: .setAside, time: now, attempts: writes.queue.attempts(of: id))
      let changes = try store.reject(id, rejection)
      writes.answers.rejectedWritesChanged()
      finish(id, .failure(.setAside), at: nil, changes)
      sendWrites()
    } catch { throw error.status }
  }
}

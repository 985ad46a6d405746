// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
import FirestoreSQLite

/// The conditions under which a caller wants a write to be made and sent.
package struct WriteConditions: Hashable, Sendable {
  /// The time that the write may wait to be sent; `nil` for as long as it takes.
  package var deadline: Duration?
  /// Whether the write is not made at all if the backend is known to be out of reach.
  package var failsIfOffline: Bool

  package init(deadline: Duration? = nil, failsIfOffline: Bool = false) {
    self.deadline = deadline
    self.failsIfOffline = failsIfOffline
  }

  package static let none = WriteConditions()
}

/// The times until which batches of this process may wait to be sent. A batch that was sent has none: whether the
/// backend has applied it is not known before its answer.
struct WriteDeadlines: Sendable {
  private var times: [BatchID: Timestamp] = [:]
  /// Batches that another client of the cache was asked to take back, because their time is over.
  private var asked: Set<BatchID> = []

  var isEmpty: Bool { times.isEmpty }

  mutating func set(_ time: Timestamp, of id: BatchID) { times[id] = time }

  mutating func remove(_ id: BatchID) { times[id] = nil }

  mutating func askedToTakeBack(_ id: BatchID) { asked.insert(id) }

  /// The earliest time among batches.
  func earliest(where isWaiting: (BatchID) -> Bool) -> Timestamp? {
    times.filter { isWaiting($0.key) }.map(\.value).min()
  }

  /// The batches whose time is over, in their order.
  func passed(at now: Timestamp, where isWaiting: (BatchID) -> Bool) -> [BatchID] {
    times.filter { $0.value <= now && isWaiting($0.key) }.map(\.key).sorted()
  }

  /// Forgets a batch that has left the queue.
  /// - Returns: its result: a batch that another client took back for its deadline has missed that.
  mutating func ended<Success>(_ id: BatchID, _ result: Result<Success, RPCStatus>) -> Result<Success, RPCStatus> {
    times[id] = nil
    guard asked.remove(id) != nil, case .failure(let status) = result, status.code == .cancelled else { return result }
    return .failure(.missedDeadline(id))
  }
}

extension RPCStatus {
  static func missedDeadline(_ id: BatchID) -> RPCStatus {
    RPCStatus(.deadlineExceeded, "Write \(id) was not sent before its deadline, and was taken back.")
  }
}

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

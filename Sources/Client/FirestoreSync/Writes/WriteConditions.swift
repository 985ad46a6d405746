// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
import FirestoreSQLite

/// Conditions that the caller sets for a write.
package struct WriteConditions: Hashable, Sendable {
  /// The maximum time until the write is sent; `nil` for no limit.
  package var deadline: Duration?
  /// Whether the write fails immediately if the client already considers the backend unreachable.
  package var failsIfOffline: Bool

  package init(deadline: Duration? = nil, failsIfOffline: Bool = false) {
    self.deadline = deadline
    self.failsIfOffline = failsIfOffline
  }

  package static let none = WriteConditions()
}

/// The deadlines before which this process's batches must be sent. A batch that was sent has no deadline any more,
/// because the backend may have applied it.
struct WriteDeadlines: Sendable {
  private var times: [BatchID: Timestamp] = [:]
  /// The batches whose deadline has passed, and whose cancellation was requested from another client of the cache.
  private var asked: Set<BatchID> = []

  var isEmpty: Bool { times.isEmpty }

  mutating func set(_ time: Timestamp, of id: BatchID) { times[id] = time }

  mutating func remove(_ id: BatchID) { times[id] = nil }

  mutating func askedToTakeBack(_ id: BatchID) { asked.insert(id) }

  /// The earliest deadline of the waiting batches.
  func earliest(where isWaiting: (BatchID) -> Bool) -> Timestamp? {
    times.filter { isWaiting($0.key) }.map(\.value).min()
  }

  /// The waiting batches whose deadline has passed, in order.
  func passed(at now: Timestamp, where isWaiting: (BatchID) -> Bool) -> [BatchID] {
    times.filter { $0.value <= now && isWaiting($0.key) }.map(\.key).sorted()
  }

  /// Removes a batch that has left the queue.
  /// - Returns: the result to report. It is `deadline-exceeded` if another client canceled the batch because its
  ///   deadline had passed.
  mutating func ended<Success>(_ id: BatchID, _ result: Result<Success, RPCStatus>) -> Result<Success, RPCStatus> {
    times[id] = nil
    guard asked.remove(id) != nil, case .failure(let status) = result, status.code == .cancelled else { return result }
    return .failure(.missedDeadline(id))
  }
}

extension RPCStatus {
  static func missedDeadline(_ id: BatchID) -> RPCStatus {
    RPCStatus(.deadlineExceeded, "Write \(id) was not sent before its deadline and was canceled.")
  }
}

extension SyncCore {
  /// The delay before another attempt to cancel a write whose deadline has passed.
  private static let pauseAfterFailure = Duration.seconds(1)

  /// Like `write(_:at:)`, but with conditions.
  /// - Throws: `unavailable` if the backend is unreachable and the conditions require a reachable backend; errors of
  ///   the store. In both cases nothing changes.
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

  /// The reason why the client considers the backend unreachable. `nil` while the backend answers, and before the first
  /// request.
  private var reasonForOffline: String? {
    if !isNetworkEnabled { return "the network is disabled" }
    return onlineState == .offline ? "the backend is unreachable" : nil
  }

  /// Cancels the writes that were not sent before their deadline. They fail with `deadline-exceeded`. A write that was
  /// sent is resent until the backend has answered it.
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
        // The write remains pending and is checked again.
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
  /// Removes an unsent write from the queue and stores it with the rejected writes, so that the user can send it again.
  /// The write's local effect is undone, and the caller that made the write gets the error `cancelled`.
  /// - Throws: `not-found` if the batch is not pending; `failed-precondition` if it is in flight, or if another client
  ///   of the cache runs the streams; errors of the store.
  package mutating func setWriteAside(_ id: BatchID, at now: Timestamp) throws(RPCStatus) {
    if let objection = objectionToCancelling(id) { throw objection }
    guard isPrimary else {
      throw RPCStatus(
        .failedPrecondition,
        "Another program has this cache's server connection. Only that program can set writes aside.")
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

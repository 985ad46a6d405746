// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

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

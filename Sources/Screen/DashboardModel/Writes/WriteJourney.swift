// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreModel
import TerminalCanvas

/// The history of one write as far as the dashboard observed it: each attempt, its result, and the final outcome.
package struct WriteJourney: Sendable {
  package struct Try: Equatable, Sendable {
    package var sent: Timestamp
    /// The time when the attempt failed; `nil` if it is in flight or the server has responded to the write.
    package var failed: Timestamp?
    /// The reason for the failure, if the client received one.
    package var why: String?

    package init(sent: Timestamp, failed: Timestamp? = nil, why: String? = nil) {
      (self.sent, self.failed, self.why) = (sent, failed, why)
    }
  }

  package enum End: Equatable, Sendable {
    case acknowledged(Timestamp)
    case rejected(Timestamp, String)
    case cancelled(Timestamp)

    package var time: Timestamp {
      switch self {
      case .acknowledged(let time), .rejected(let time, _), .cancelled(let time): time
      }
    }
  }

  /// The last state of the write in the queue.
  package private(set) var row: QueueRow
  package private(set) var tries: [Try] = []
  package private(set) var end: End?

  package var batch: BatchID { row.batch }
  package var made: Timestamp { row.write.localWriteTime }

  package init(_ row: QueueRow) { self.row = row }

  /// Records the current state of the write in the queue.
  package mutating func note(_ new: QueueRow, at now: Timestamp) {
    row = new
    guard end == nil else { return }
    let isUnderWay = new.write.state == .inFlight
    let isOpen = tries.last.map { $0.failed == nil } ?? false
    if isOpen, !isUnderWay || new.write.attempts > tries.count { fail(new.write.lastError?.code.name, at: now) }
    if isUnderWay, tries.last.map({ $0.failed != nil }) ?? true { tries.append(Try(sent: now)) }
  }

  private mutating func fail(_ why: String?, at now: Timestamp) {
    guard let last = tries.indices.last else { return }
    tries[last].failed = now
    tries[last].why = why
  }

  /// - Parameter after: the time from sending the write to the response. It determines the sending time more accurately
  ///   than the queue's reports.
  package mutating func acknowledge(at now: Timestamp, after time: Duration?) {
    end = .acknowledged(now)
    row.outcome = .acknowledged(after: time)
    guard let time else { return }
    let sent = max(made, Timestamp(microseconds: now.microseconds &- time.wholeMicroseconds))
    if let last = tries.indices.last, tries[last].failed == nil {
      tries[last].sent = max(sent, tries.count > 1 ? tries[last - 1].failed ?? sent : sent)
    } else {
      tries.append(Try(sent: sent))
    }
  }

  package mutating func reject(_ status: RPCStatus, at now: Timestamp) {
    end = .rejected(now, status.code.name)
    row.outcome = .rejected(status, at: now)
    if tries.isEmpty { tries.append(Try(sent: now)) }
  }

  package mutating func cancel(at now: Timestamp) { end = .cancelled(now) }
}

/// The text about the acknowledgement of a write. It contains the latency. If the write waited most of the time before
/// it was sent, it also contains the write's age.
package struct WriteAnswer: Hashable, Sendable {
  package let batch: BatchID
  /// The time from the last attempt to the response; `nil` if unknown.
  package let after: Duration?
  /// The time from making the write to the response; `nil` if unknown.
  package let age: Duration?
  package let tries: Int

  package init(_ batch: BatchID, after: Duration? = nil, age: Duration? = nil, tries: Int = 1) {
    self.batch = batch
    self.after = after
    self.age = age
    self.tries = tries
  }

  /// A wait before sending is shown only if it is at least this long.
  private static let shortestWait = Duration.seconds(1)

  /// The time since the write was made; `nil` unless the write waited before its last attempt.
  package var wholeAge: Duration? {
    guard let age, tries > 1 || age - (after ?? .zero) >= Self.shortestWait else { return nil }
    return max(age, after ?? .zero)
  }

  /// The beginning of every text about an acknowledgement.
  var name: String { "\(batch) acknowledged" }

  /// `#1 acknowledged, rtt 31 ms`, or `#1 acknowledged after 80 s, 2 tries`.
  package var text: String {
    if let wholeAge {
      return name + " after \(TimeText.span(wholeAge))" + (tries > 1 ? ", \(tries) tries" : "")
    }
    return name + (after.map { ", rtt " + TimeText.latency($0) } ?? "")
  }

  /// The summary of a feed row about an acknowledgement. Times that were unknown when the row was added are inserted.
  func completing(_ summary: String) -> String {
    guard summary.utf8.starts(with: name.utf8) else { return summary }
    let rest = summary.dropFirst(name.count)
    return rest.isEmpty || [Glyphs.unicode, .ascii, .spoken].contains { rest.hasPrefix(" \($0.bullet) ") }
      ? text + rest : summary
  }
}

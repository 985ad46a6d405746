// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreModel
import TerminalCanvas

/// The observed history of one write: each attempt, its result, and the end.
package struct WriteJourney: Sendable {
  package struct Try: Equatable, Sendable {
    package var sent: Timestamp
    /// The time when the attempt failed; `nil` while it is in flight or if it was answered.
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

  /// The last listed state of the write.
  package private(set) var row: QueueRow
  package private(set) var tries: [Try] = []
  package private(set) var end: End?

  package var batch: BatchID { row.batch }
  package var made: Timestamp { row.write.localWriteTime }

  package init(_ row: QueueRow) { self.row = row }

  /// Records the write's state in the queue.
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

  /// - Parameter after: the time from sending to the answer. It gives a more accurate sending time than the queue.
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

/// The text of a write's acknowledgement: the latency, and the write's age if most of the time passed before sending.
package struct WriteAnswer: Hashable, Sendable {
  package let batch: BatchID
  /// The time from the last attempt to the answer; `nil` if unknown.
  package let after: Duration?
  /// The time from making the write to the answer; `nil` if unknown.
  package let age: Duration?
  package let tries: Int

  package init(_ batch: BatchID, after: Duration? = nil, age: Duration? = nil, tries: Int = 1) {
    self.batch = batch
    self.after = after
    self.age = age
    self.tries = tries
  }

  /// The shortest wait that is shown.
  private static let shortestWait = Duration.seconds(1)

  /// The time since the write was made, if the write waited before its last attempt.
  package var wholeAge: Duration? {
    guard let age, tries > 1 || age - (after ?? .zero) >= Self.shortestWait else { return nil }
    return max(age, after ?? .zero)
  }

  /// The prefix of every acknowledgement text.
  var name: String { "\(batch) acknowledged" }

  /// `#1 acknowledged, rtt 31 ms`, or `#1 acknowledged 80 s after it was made, 2 tries`.
  package var text: String {
    if let wholeAge {
      return name + " \(TimeText.span(wholeAge)) after it was made" + (tries > 1 ? ", \(tries) tries" : "")
    }
    return name + (after.map { ", rtt " + TimeText.latency($0) } ?? "")
  }

  /// The summary of an acknowledgement row, completed with times that were unknown when it was written.
  func completing(_ summary: String) -> String {
    guard summary.utf8.starts(with: name.utf8) else { return summary }
    let rest = summary.dropFirst(name.count)
    return rest.isEmpty || [Glyphs.unicode, .ascii, .spoken].contains { rest.hasPrefix(" \($0.bullet) ") }
      ? text + rest : summary
  }
}

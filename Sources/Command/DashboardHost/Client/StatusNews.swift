// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel

/// The changes in a client's status as a dashboard's events: each outcome once, each list when it changed.
struct StatusNews {
  /// The number of the last outcome; `nil` if outcomes before the first status are no news.
  private var lastOutcome: Int?
  /// The number of outcomes that the last status leaves out, because there were too many since the status before.
  private(set) var missedOutcomes = 0
  private(set) var queue: [PendingWrite]?
  private var queueSize: QueueSize?
  private(set) var rejected: [RejectedWrite] = []
  /// Rejected writes that were sent again or dropped here; others that disappear were forgotten by the cache.
  var settledRejected: Set<BatchID> = []
  private var indexes: [IndexState] = []
  private var retentions: [Retention] = []

  /// - Parameter knowsPast: whether outcomes before the first status are no news.
  init(knowsPast: Bool = false) { lastOutcome = knowsPast ? nil : 0 }

  /// The batches that left the queue since the last status, with their outcomes.
  mutating func outcomes(of status: ClientStatus) -> [WriteOutcome] {
    let last = lastOutcome ?? status.recentOutcomes.last?.sequence ?? 0
    let new = status.recentOutcomes.filter { $0.sequence > last }
    // Numbers of another program need not follow each other.
    let gap = new.first.map { $0.sequence.subtractingReportingOverflow(last).partialValue } ?? 1
    missedOutcomes = max(1, gap) - 1
    lastOutcome = new.last?.sequence ?? last
    return new
  }

  static func event(of outcome: WriteOutcome) -> ClientEvent {
    guard let rejection = outcome.rejection else {
      return .writeAcknowledged(outcome.batch, after: outcome.after, of: outcome.documents)
    }
    return rejection.endsWriteHere ? .writeCancelled(outcome.batch) : .writeRejected(outcome.batch, rejection)
  }

  /// The events for the queue and for the rejected writes.
  static func lists(of status: ClientStatus) -> [ClientEvent] {
    [.pendingWrites(status.pendingWrites, of: status.queue), .rejectedWrites(status.rejectedWrites)]
  }

  /// The events for the lists that changed, and for the status itself.
  mutating func changes(in status: ClientStatus) -> [ClientEvent] {
    var events: [ClientEvent] = []
    if status.pendingWrites != queue || status.queue != queueSize {
      (queue, queueSize) = (status.pendingWrites, status.queue)
      events.append(.pendingWrites(status.pendingWrites, of: status.queue))
    }
    if status.rejectedWrites != rejected {
      let kept = Set(status.rejectedWrites.map(\.id))
      let forgotten = rejected.map(\.id).filter { !kept.contains($0) && settledRejected.remove($0) == nil }
      if !forgotten.isEmpty { events.append(.rejectedWritesForgotten(forgotten)) }
      rejected = status.rejectedWrites
      events.append(.rejectedWrites(status.rejectedWrites))
    }
    if status.indexes != indexes {
      indexes = status.indexes
      events.append(.indexes(status.indexes))
    }
    if let told = status.retentions, told != retentions {
      retentions = told
      events.append(.retentions(told))
    }
    return events + [.status(status)]
  }
}

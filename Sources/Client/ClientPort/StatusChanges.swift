// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// Converts changes of a client's status to events. Each write outcome is reported once, and each list is reported
/// after it changes. All other parts of the status are reported together.
package struct StatusChanges: Sendable {
  /// A list that may be reported with a delay, because it is long and changes constantly.
  package enum Part: Hashable, Sendable { case reads, pendingWrites }

  /// The number of the last reported outcome; `nil` to skip all outcomes before the first status.
  private var lastOutcome: Int?
  package private(set) var queue: [PendingWrite]?
  private var queueSize: QueueSize?
  package private(set) var rejected: [RejectedWrite] = []
  /// Rejected writes that were resent or dropped on request. If any other rejected write disappears, the cache has
  /// dropped it.
  package var settledRejected: Set<BatchID> = []
  private var indexes: [IndexState] = []
  private var retentions: [Retention] = []
  private var reads: [ReadMeter] = []

  /// - Parameter knowsPast: whether the receiver already knows all outcomes before the first status, so that they are
  ///   not reported.
  package init(knowsPast: Bool = false) { lastOutcome = knowsPast ? nil : 0 }

  /// The number of outcomes that the last status did not contain, because too many writes finished since the previous
  /// status.
  package private(set) var missedOutcomes = 0

  /// The batches that left the queue since the previous status, with their outcomes.
  package mutating func outcomes(of status: ClientStatus) -> [WriteOutcome] {
    let last = lastOutcome ?? status.recentOutcomes.last?.sequence ?? 0
    let new = status.recentOutcomes.filter { $0.sequence > last }
    missedOutcomes = max(1, new.first.map { $0.sequence - last } ?? 1) - 1
    lastOutcome = new.last?.sequence ?? last
    return new
  }

  /// Returns one event for each list that changed, and one for the rest of the status.
  /// - Parameter omitted: lists to omit from this call. The next call reports them.
  package mutating func changes(in status: ClientStatus, omitting omitted: Set<Part> = []) -> [ClientEvent] {
    var events: [ClientEvent] = []
    if !omitted.contains(.pendingWrites), status.pendingWrites != queue || status.queue != queueSize {
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
    if let reported = status.retentions, reported != retentions {
      retentions = reported
      events.append(.retentions(reported))
    }
    if !omitted.contains(.reads), status.reads != reads {
      reads = status.reads
      events.append(.reads(status.reads))
    }
    return events + [.status(status.withoutLists)]
  }
}

extension WriteOutcome {
  /// The event that reports this outcome.
  package var event: ClientEvent {
    guard let rejection else { return .writeAcknowledged(batch, after: after, of: documents) }
    return rejection.endsWriteHere ? .writeCancelled(batch) : .writeRejected(batch, rejection)
  }
}

extension ClientStatus {
  /// A copy of the status without its lists, which are reported by separate events.
  package var withoutLists: ClientStatus {
    var status = self
    (status.pendingWrites, status.rejectedWrites, status.recentOutcomes) = ([], [], [])
    (status.indexes, status.retentions, status.reads) = ([], nil, [])
    return status
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreInspection

/// The parts that are left out of a status, because they are long and were told a moment ago.
struct StatusOmissions {
  /// The least time between two statuses with the figures of reads, which change all the time.
  private static let readsPace = Duration.seconds(2)
  /// The least time between two statuses with a long queue, since every write makes a new list of it.
  private static let queuePace = Duration.seconds(1)
  private static let shortQueue = 20

  private var lastReads: ContinuousClock.Instant?
  private var lastQueue: ContinuousClock.Instant?

  mutating func next(_ status: ClientStatus, at now: ContinuousClock.Instant) -> Set<InspectedStatus.Part> {
    var omitted: Set<InspectedStatus.Part> = []
    if let lastReads, now - lastReads < Self.readsPace { omitted.insert(.reads) } else { lastReads = now }
    let isShort = status.pendingWrites.count <= Self.shortQueue
    if !isShort, let lastQueue, now - lastQueue < Self.queuePace {
      omitted.insert(.waitingWrites)
    } else {
      lastQueue = now
    }
    return omitted
  }
}

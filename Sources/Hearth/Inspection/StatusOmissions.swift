// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreInspection

/// What a status is told without, because it is long and was told a moment ago.
struct StatusOmissions {
  /// Figures of what was read move all the time, and nobody follows them closer.
  private static let readsPace = Duration.seconds(2)
  /// Of a long queue every write makes a new list.
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

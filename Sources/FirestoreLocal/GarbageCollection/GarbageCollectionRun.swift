// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery

/// One run of the least-recently-used garbage collection (SDK: LruGarbageCollector), in slices between which the cache
/// may be used and changed.
///
///     members ─► ages ─► choose ─► retire ─┬─► forget ─► members ─┬─► candidates ─► remove ─► compact ─► done
///                                          └── no target goes ────┘
///
/// Every slice is one transaction and leaves a consistent cache: a run that ends anywhere, also with the process, has
/// merely collected less. What earlier slices found out is only trusted as long as nothing else changes the cache.
/// A slice works off pieces until its time is over, whichever phases they belong to.
package struct GarbageCollectionRun: Sendable {
  enum Phase: Sendable {
    /// Which documents belong to targets.
    case members(after: TargetCache.Membership?)
    /// How old the others are.
    case ages(after: DocumentTable.Age?)
    case choose
    /// Makes targets that go unknown.
    case retire(after: TargetID?)
    /// Deletes the membership of targets that go.
    case forget(index: Int)
    /// Which documents are old enough.
    case candidates(after: DocumentTable.Age?)
    case remove(after: DocumentNumber?)
    /// Gives free pages back.
    case compact
    /// Shortens the file by them.
    case writeBack
    case done
  }

  /// How much is done between two looks at the clock; each takes about half a millisecond.
  enum Piece {
    static let rowsRead = 1_000
    static let targetsRetired = 10
    static let membersForgotten = 200
    static let documentsRemoved = 64
    static let documentsMeasured = 200
    static let pagesMoved = 64
  }

  let thresholdBytes: Int64
  let percentile: Int
  let maximum: Int
  let isDryRun: Bool

  var phase = Phase.members(after: nil)
  /// What belongs to a target that stays.
  var members = NumberSet()
  /// The sequence numbers of documents that belong to no target.
  var ages = SequenceNumberCounts()
  var leaving: [TargetID] = []
  var candidates = NumberSet()
  /// What SQLite counted after the last slice. Any other number later means that other changes were made.
  var changeCount: Int64?
  var isUndisturbed = true
  var pacer: SlicePacer
  var log = LogPacer()

  package internal(set) var plan = GarbageCollectionPlan()
  package internal(set) var targetsRemoved = 0
  package internal(set) var documentsRemoved = 0

  package var isFinished: Bool { if case .done = phase { true } else { false } }

  /// The phase changes much more than it reads.
  var isWriting: Bool {
    switch phase {
    case .retire, .forget, .remove, .compact: !isDryRun
    case .members, .ages, .choose, .candidates, .writeBack, .done: false
    }
  }

  /// All is removed, and only free pages are left to be given back.
  package var isCompacting: Bool {
    switch phase {
    case .compact, .writeBack: true
    default: false
    }
  }

  package var result: GarbageCollectionResult {
    GarbageCollectionResult(
      didRun: true, sequenceNumbersCollected: plan.sequenceNumbersCollected, targetsRemoved: targetsRemoved,
      documentsRemoved: documentsRemoved)
  }

  /// Finds the sequence number up to which things go. All documents and targets are equal in this.
  /// - Parameter targets: the targets' sequence numbers.
  mutating func setBound(targets: [Int64]) {
    for number in targets { ages.add(number) }
    plan.sequenceNumbers = ages.total
    let (tenths, overflow) = plan.sequenceNumbers.multipliedReportingOverflow(by: max(0, min(percentile, 100)))
    let collected = min(overflow ? plan.sequenceNumbers : tenths / 100, maximum)
    defer { ages = SequenceNumberCounts() }
    guard collected > 0, let bound = ages.number(at: collected) else { return }
    plan.bound = bound
    plan.sequenceNumbersCollected = collected
  }
}

/// What a run of the garbage collector removes, or would remove, and why.
package struct GarbageCollectionPlan: Sendable {
  /// A target that was used least recently.
  package struct LeavingTarget: Sendable {
    package var target: Target
    /// When it was last used, on the cache's own scale.
    package var sequenceNumber: Int64
    /// How many documents belong to it, other targets' included.
    package var documents: Int
  }

  /// What was used at this point of the cache's own scale or before goes; `nil` if nothing does.
  package var bound: Int64?
  /// Of how many sequence numbers, of targets and of documents that belong to none.
  package var sequenceNumbers = 0
  package var sequenceNumbersCollected = 0
  package var targets: [LeavingTarget] = []
  /// Documents that then belong to no target, and that no view, limbo resolution or pending write refers to.
  package var documents = 0
  /// Of these documents' fields and ids.
  package var bytes: Int64 = 0
}

/// The size of a cache, and what its policy makes of it.
package struct CacheOccupancy: Hashable, Sendable {
  /// On disk, the log included; of the pages in use for a cache in memory.
  package var bytes: Int64
  /// Pages that hold nothing any more but have not been given back.
  package var freeBytes: Int64
  package var documents: Int
  package var targets: Int
  package var pendingWrites: Int
  package var policy: GarbageCollectionPolicy
}

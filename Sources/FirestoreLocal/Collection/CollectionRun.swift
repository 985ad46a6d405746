// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRemote

/// One run of the least-recently-used collection (SDK: LruGarbageCollector), in slices between which the cache may be
/// used and changed.
///
///     members ─► ages ─► choose ─┬─► forget ─► members ─┬─► candidates ─► remove ─► compact ─► done
///                                └── no target goes ────┘
///
/// Every slice is one transaction and leaves a consistent cache: a run that ends anywhere, also with the process, has
/// merely collected less. What earlier slices found out is only trusted as long as nothing else changes the cache.
package struct CollectionRun: Sendable {
  enum Phase: Sendable {
    /// Which documents belong to targets.
    case members(after: TargetCache.Membership?)
    /// How old the others are.
    case ages(after: DocumentTable.Age?)
    case choose
    /// Deletes the membership of targets that go.
    case forget(index: Int)
    /// Which documents are old enough.
    case candidates(after: DocumentTable.Age?)
    case remove(index: Int)
    /// Gives free pages back.
    case compact
    case done
  }

  /// How much one slice does; each is chosen to take a few milliseconds.
  enum Slice {
    static let rowsRead = 8_000
    static let membersForgotten = 3_000
    static let documentsRemoved = 800
    static let documentsMeasured = 3_000
    static let pagesMoved = 200
    /// A log of this size is written back to the database before the next slice, so that no commit has to.
    static let logBytes: Int64 = 4 << 20
  }

  let thresholdBytes: Int64
  let percentile: Int
  let maximum: Int
  let isDryRun: Bool

  var phase = Phase.members(after: nil)
  /// What belongs to a target that stays.
  var members = NumberSet()
  /// Documents that belong to no target, by their sequence numbers.
  var ages: [Int64: Int] = [:]
  var leaving: [TargetID] = []
  var candidates: [DocumentTable.Number] = []
  /// What SQLite counted after the last slice. Any other number later means that somebody else made changes.
  var changeCount: Int64?
  var isUndisturbed = true
  /// The last slice emptied the log.
  var hasWrittenLogBack = false

  package internal(set) var plan = CollectionPlan()
  package internal(set) var targetsRemoved = 0
  package internal(set) var documentsRemoved = 0

  package var isFinished: Bool { if case .done = phase { true } else { false } }

  /// All is removed, and only free pages are left to be given back.
  package var isCompacting: Bool { if case .compact = phase { true } else { false } }

  package var result: CollectionResult {
    CollectionResult(
      didRun: true, sequenceNumbersCollected: plan.sequenceNumbersCollected, targetsRemoved: targetsRemoved,
      documentsRemoved: documentsRemoved)
  }

  /// Finds the sequence number up to which things go. All documents and targets are equal in this.
  /// - Parameter targets: the targets' sequence numbers.
  mutating func setBound(targets: [Int64]) {
    var counts = ages
    for number in targets { counts[number, default: 0] += 1 }
    ages = [:]
    plan.sequenceNumbers = counts.values.reduce(0, +)
    let (tenths, overflow) = plan.sequenceNumbers.multipliedReportingOverflow(by: max(0, min(percentile, 100)))
    let collected = min(overflow ? plan.sequenceNumbers : tenths / 100, maximum)
    guard collected > 0 else { return }
    var seen = 0
    for (number, count) in counts.sorted(by: { $0.key < $1.key }) {
      seen += count
      if seen >= collected {
        plan.bound = number
        plan.sequenceNumbersCollected = collected
        return
      }
    }
  }
}

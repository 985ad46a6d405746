// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreSQLite

/// The store's background work in slices, and its progress: at most one garbage collection runs, and at most one slice
/// of the index backfill is scheduled.
struct Upkeep: Sendable {
  private var collection: GarbageCollectionRun?
  private(set) var isBackfillScheduled = false
  /// Whether views without a watched target will show acknowledged writes.
  var areResultsScheduled = false

  /// Whether a garbage collection is running. Each run of its timer performs a slice.
  var isCollecting: Bool { collection != nil }

  /// Performs one slice of the running garbage collection, or begins one if the cache is large enough. A collection
  /// ends when it fails; documents that were removed remain so.
  mutating func collect(
    from store: inout LocalStore, above threshold: Int64, pacer: SlicePacer
  ) throws(StoreError) {
    var next = collection.take()
    if next == nil { next = try store.beginGarbageCollection(thresholdBytes: threshold, pacer: pacer) }
    guard var run = next.take() else { return }
    try store.continueGarbageCollection(&run)
    if !run.isFinished { collection = run }
  }

  /// Ends the running garbage collection, which another client of the cache starts again.
  mutating func stopCollecting() { collection = nil }

  mutating func backfillScheduled() { isBackfillScheduled = true }

  mutating func backfillBegan() { isBackfillScheduled = false }
}

/// The store's work in slices between other work.
extension SyncCore {
  /// Performs one slice of the running garbage collection, or begins one if the cache is large enough. Other work can
  /// run between two slices.
  mutating func collectGarbage() {
    guard let threshold = configuration.garbageCollectionThreshold else { return }
    do throws(StoreError) {
      try upkeep.collect(from: &store, above: threshold, pacer: configuration.slicePacer)
    } catch {
      // Collected documents remain so. The rest is collected next time, and nothing depends on it.
      if error.kind == .leaseLost { resign() }
    }
    // The SDK's interval: five minutes after the last collection.
    output.append(.schedule(.garbageCollection, after: upkeep.isCollecting ? .zero : .seconds(300)))
  }

  // MARK: Indexes

  /// The pause between two slices, so that at least half of the time remains for other events.
  private static let pauseBetweenSlices = Duration.milliseconds(10)
  /// The pause after a failure. Nothing depends on an index, so a failing store is not used again soon.
  private static let pauseAfterFailure = Duration.seconds(60)

  /// Schedules the next slice of the backfill, if any. Queries create indexes too, so every transition ends with this.
  mutating func scheduleIndexBackfill() {
    guard !upkeep.isBackfillScheduled, (try? store.needsIndexBackfill) ?? false else { return }
    upkeep.backfillScheduled()
    output.statusChanged()
    output.append(.schedule(.indexBackfill, after: Self.pauseBetweenSlices))
  }

  /// Performs one slice.
  mutating func backfillIndexes() {
    upkeep.backfillBegan()
    output.statusChanged()
    do throws(StoreError) {
      _ = try store.backfillIndexes()
    } catch {
      upkeep.backfillScheduled()
      output.append(.schedule(.indexBackfill, after: Self.pauseAfterFailure))
    }
  }
}

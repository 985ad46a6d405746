// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreSQLite

/// The work on the store that is done in slices while nothing else waits, and how far it is: at most one garbage
/// collection is under way, and at most one slice of the index backfill is scheduled.
struct Upkeep: Sendable {
  private var collection: GarbageCollectionRun?
  private(set) var isBackfillScheduled = false

  /// Whether a garbage collection is under way, of which each turn of its timer does a slice.
  var isCollecting: Bool { collection != nil }

  /// Begins a garbage collection if the cache is large enough, or goes on with the one under way; does one slice. A
  /// collection that fails is over: documents that are gone stay so.
  mutating func collect(
    from store: inout LocalStore, above threshold: Int64, pacer: SlicePacer
  ) throws(StoreError) {
    var next = collection.take()
    if next == nil { next = try store.beginGarbageCollection(thresholdBytes: threshold, pacer: pacer) }
    guard var run = next.take() else { return }
    try store.continueGarbageCollection(&run)
    if !run.isFinished { collection = run }
  }

  /// Ends the garbage collection under way, which another client of the cache begins anew.
  mutating func stopCollecting() { collection = nil }

  mutating func backfillScheduled() { isBackfillScheduled = true }

  mutating func backfillBegan() { isBackfillScheduled = false }
}

/// The work that the store does in slices while nothing else waits.
extension SyncCore {
  /// Begins a garbage collection if the cache is large enough, or goes on with the one under way. Other work has its
  /// turn between two slices.
  mutating func collectGarbage() {
    guard let threshold = configuration.garbageCollectionThreshold else { return }
    do throws(StoreError) {
      try upkeep.collect(from: &store, above: threshold, pacer: configuration.slicePacer)
    } catch {
      // Collected documents stay so; the rest is tried again at the next turn, and nothing depends on it.
      if error.kind == .leaseLost { resign() }
    }
    // The SDK's interval: five minutes after the last.
    output.append(.schedule(.garbageCollection, after: upkeep.isCollecting ? .zero : .seconds(300)))
  }

  // MARK: Indexes

  /// The pause between two slices, so that at least half of the time is left for other events.
  private static let pauseBetweenSlices = Duration.milliseconds(10)
  /// The pause after a failure. Nothing depends on an index, so that a store that fails is not bothered again soon.
  private static let pauseAfterFailure = Duration.seconds(60)

  /// Wakes the core for the next slice of the backfill if there is one. Queries make indexes too, so that every
  /// transition ends with it.
  mutating func scheduleIndexBackfill() {
    guard !upkeep.isBackfillScheduled, (try? store.needsIndexBackfill) ?? false else { return }
    upkeep.backfillScheduled()
    output.statusChanged()
    output.append(.schedule(.indexBackfill, after: Self.pauseBetweenSlices))
  }

  /// Does one slice.
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

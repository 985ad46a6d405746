// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreSQLite

/// The work that the store does in slices while nothing else waits.
extension SyncCore {
  /// Begins a garbage collection if the cache is large enough, or goes on with the one under way. Other work has its
  /// turn between two slices.
  mutating func collectGarbage() {
    guard let threshold = configuration.garbageCollectionThreshold else { return }
    do throws(StoreError) {
      if garbageCollection == nil {
        garbageCollection = try store.beginGarbageCollection(thresholdBytes: threshold, pacer: configuration.slicePacer)
      }
      if var run = garbageCollection {
        try store.continueGarbageCollection(&run)
        garbageCollection = run.isFinished ? nil : run
      }
    } catch {
      // Collected documents stay so; the rest is tried again at the next turn, and nothing depends on it.
      garbageCollection = nil
      if error.kind == .leaseLost { resign() }
    }
    // The SDK's interval: five minutes after the last.
    effects.append(.schedule(.garbageCollection, after: garbageCollection == nil ? .seconds(300) : .zero))
  }

  // MARK: Indexes

  /// The pause between two slices, so that at least half of the time is left for other events.
  private static let pauseBetweenSlices = Duration.milliseconds(10)
  /// The pause after a failure. Nothing depends on an index, so that a store that fails is not bothered again soon.
  private static let pauseAfterFailure = Duration.seconds(60)

  /// Wakes the core for the next slice of the backfill if there is one. Queries make indexes too, so that every
  /// transition ends with it.
  mutating func scheduleIndexBackfill() {
    guard !isIndexBackfillScheduled, (try? store.needsIndexBackfill) ?? false else { return }
    isIndexBackfillScheduled = true
    statusRevision += 1
    effects.append(.schedule(.indexBackfill, after: Self.pauseBetweenSlices))
  }

  /// Does one slice.
  mutating func backfillIndexes() {
    isIndexBackfillScheduled = false
    statusRevision += 1
    do throws(StoreError) {
      _ = try store.backfillIndexes()
    } catch {
      isIndexBackfillScheduled = true
      effects.append(.schedule(.indexBackfill, after: Self.pauseAfterFailure))
    }
  }
}

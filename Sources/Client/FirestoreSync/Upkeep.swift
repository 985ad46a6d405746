// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreSQLite

/// The store's background work, which runs in slices, and its progress. At most one garbage collection runs at a time,
/// and at most one slice of the index backfill is scheduled.
struct Upkeep: Sendable {
  private var collection: GarbageCollectionRun?
  private(set) var isBackfillScheduled = false
  /// Whether the timer for showing acknowledged writes in unwatched views is running.
  var areResultsScheduled = false

  /// Whether a garbage collection is running. It performs one slice each time its timer expires.
  var isCollecting: Bool { collection != nil }

  /// Performs one slice of the running garbage collection, or begins one if the cache is large enough. A failure ends
  /// the garbage collection. Documents that it has already removed remain removed.
  mutating func collect(
    from store: inout LocalStore, above threshold: Int64, pacer: SlicePacer
  ) throws(StoreError) {
    var next = collection.take()
    if next == nil { next = try store.beginGarbageCollection(thresholdBytes: threshold, pacer: pacer) }
    guard var run = next.take() else { return }
    try store.continueGarbageCollection(&run)
    if !run.isFinished { collection = run }
  }

  /// Ends the running garbage collection. Another client of the cache will start a new one.
  mutating func stopCollecting() { collection = nil }

  mutating func backfillScheduled() { isBackfillScheduled = true }

  mutating func backfillBegan() { isBackfillScheduled = false }
}

/// The background work of the store, in slices between other work.
extension SyncCore {
  /// Performs one slice of the running garbage collection, or begins one if the cache is large enough. Other work can
  /// run between two slices.
  mutating func collectGarbage() {
    guard let threshold = configuration.garbageCollectionThreshold else { return }
    do throws(StoreError) {
      try upkeep.collect(from: &store, above: threshold, pacer: configuration.slicePacer)
    } catch {
      // Other errors are ignored: the next collection continues with the remaining documents.
      if error.kind == .leaseLost { resign() }
    }
    // The SDK's interval: five minutes after the last collection.
    output.append(.schedule(.garbageCollection, after: upkeep.isCollecting ? .zero : .seconds(300)))
  }

  // MARK: Indexes

  /// The pause between two slices. It reserves at least half of the time for other events.
  private static let pauseBetweenSlices = Duration.milliseconds(10)
  /// The pause after a failure. It may be long, because query results do not depend on indexes.
  private static let pauseAfterFailure = Duration.seconds(60)

  /// Schedules the next slice of the index backfill, if there is one. Called at the end of every transition, because
  /// queries can also create indexes.
  mutating func scheduleIndexBackfill() {
    guard !upkeep.isBackfillScheduled, (try? store.needsIndexBackfill) ?? false else { return }
    upkeep.backfillScheduled()
    output.statusChanged()
    output.append(.schedule(.indexBackfill, after: Self.pauseBetweenSlices))
  }

  /// Performs one slice of the index backfill.
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

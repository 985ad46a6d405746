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

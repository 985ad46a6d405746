// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
package import FirestoreModel

extension SyncEngine {
  /// The size of the cache, and what its policy makes of it.
  package func cacheOccupancy() async throws(RPCStatus) -> CacheOccupancy {
    try change { core throws(LocalStoreError) in try core.store.occupancy() }
  }

  /// Removes the least recently used tenth from the cache if it is as large as it may be; in slices, between which
  /// everything else that waits has its turn.
  /// - Parameter isDryRun: removes nothing and finds out what would go, whatever the size.
  /// - Returns: `nil` if the cache is smaller, or never collected this way.
  package func collectGarbage(isDryRun: Bool) async throws(RPCStatus) -> GarbageCollectionRun? {
    var run = try change { core throws(LocalStoreError) in
      let threshold = core.configuration.garbageCollectionThreshold
      if threshold == nil, !isDryRun { return GarbageCollectionRun?.none }
      return try core.store.beginGarbageCollection(thresholdBytes: threshold ?? .max, isDryRun: isDryRun)
    }
    while let begun = run, !begun.isFinished {
      run = try change { core throws(LocalStoreError) in
        var next = begun
        try core.store.continueGarbageCollection(&next)
        return next
      }
      await Task.yield()
    }
    return run
  }
}

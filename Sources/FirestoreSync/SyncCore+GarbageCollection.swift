// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal

extension SyncCore {
  /// Begins a garbage collection if the cache is large enough, or goes on with the one under way. Other work has its
  /// turn between two slices.
  mutating func collectGarbage(_ effects: inout [SyncEffect]) {
    guard let threshold = configuration.garbageCollectionThreshold else { return }
    do throws(LocalStoreError) {
      if garbageCollection == nil {
        garbageCollection = try store.beginGarbageCollection(thresholdBytes: threshold, pacer: configuration.slicePacer)
      }
      if var run = garbageCollection {
        try store.continueGarbageCollection(&run)
        garbageCollection = run.isFinished ? nil : run
      }
    } catch {
      // What has been collected stays so; the rest is tried again at the next turn, and nothing depends on it.
      garbageCollection = nil
    }
    // SDK: five minutes after the last.
    effects.append(.schedule(.garbageCollection, after: garbageCollection == nil ? .seconds(300) : .zero))
  }
}

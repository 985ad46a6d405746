// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal

extension SyncCore {
  /// Begins a collection if the cache is large enough, or goes on with the one under way; everything else that waits
  /// has its turn between two slices.
  mutating func collectGarbage(_ effects: inout [SyncEffect]) {
    guard let threshold = configuration.collectionThreshold else { return }
    do throws(LocalStoreError) {
      if collection == nil {
        collection = try store.beginCollection(thresholdBytes: threshold, pacer: configuration.slicePacer)
      }
      if var run = collection {
        try store.continueCollection(&run)
        collection = run.isFinished ? nil : run
      }
    } catch {
      // What has been collected stays so; the rest is tried again at the next turn, and nothing depends on it.
      collection = nil
    }
    // SDK: five minutes after the last.
    effects.append(.schedule(.garbageCollection, after: collection == nil ? .seconds(300) : .zero))
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreQuery

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

// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreSQLite

package enum StorageLocation: Hashable, Sendable {
  case memory
  /// A directory (0700, made if absent) that one store may hold at a time, or several that share it.
  case directory(String)
}

package enum GarbageCollectionPolicy: Hashable, Sendable {
  /// Forgets a document as soon as no target, view or pending write refers to it.
  case eager
  /// Keeps documents until the cache exceeds this many bytes, then collects the least recently used tenth.
  case leastRecentlyUsed(thresholdBytes: Int64)
  case never
}

/// The named transactions of the store; faults are injected by name (spec tests' `failDatabase`).
package enum StoreAction: String, Hashable, Sendable, CaseIterable {
  case start = "Start MutationQueue"
  case allocateTarget = "Allocate target"
  case getTargetData = "Get target data"
  case releaseTarget = "Release target"
  case writeLocally = "Locally write mutations"
  case acknowledgeBatch = "Acknowledge batch"
  case rejectBatch = "Reject batch"
  case handleUserChange = "Handle user change"
  case getLastRemoteSnapshotVersion = "Get last remote snapshot version"
  case applyRemoteEvent = "Apply remote event"
  case notifyLocalViewChanges = "notifyLocalViewChanges"
  case lookUpMutationDocuments = "Lookup mutation documents"
  case getNewDocumentChanges = "Get new document changes"
  case refreshLease = "updateClientMetadataAndTryBecomePrimary"
}

package struct LocalStoreConfiguration: Sendable {
  package var location: StorageLocation
  package var policy: GarbageCollectionPolicy
  package var database: DatabaseID
  /// The required owner of a durable cache; `nil` takes any owner, for a command that only reads the cache.
  package var claim: CacheClaim?
  /// Whether other stores, of this process or of others, may use a durable cache at the same time.
  package var isShared: Bool
  /// The clients that share the cache, if all of them run on one thread; `nil` if the kernel tells of them.
  package var company: SharedCompany?
  /// Takes one sentence or two for the user while the store is opened and nothing has failed.
  package var report: @Sendable (String) -> Void

  package init(
    location: StorageLocation, policy: GarbageCollectionPolicy, database: DatabaseID, claim: CacheClaim? = nil,
    isShared: Bool = false, report: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.location = location
    self.policy = policy
    self.database = database
    self.claim = claim
    self.isShared = isShared
    self.report = report
  }
}

extension LocalStoreConfiguration {
  var use: DirectoryUse { isShared ? .shared : .alone }
}

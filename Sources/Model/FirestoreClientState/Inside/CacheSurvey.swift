// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The content of a cache by collection, and what the next garbage collection would take of it.
package struct CacheSurvey: Codable, Sendable {
  /// A collection's part of the cache.
  package struct Share: Codable, Hashable, Sendable {
    package var path: ResourcePath
    package var documents: Int
    /// The number of documents that are known not to exist, or of which only the name is known.
    package var names: Int
    /// The size of the documents' fields and ids.
    package var bytes: Int64
    /// The part that a garbage collection would take now.
    package var leavingDocuments: Int
    package var leavingBytes: Int64

    package init(
      path: ResourcePath, documents: Int, names: Int = 0, bytes: Int64, leavingDocuments: Int = 0,
      leavingBytes: Int64 = 0
    ) {
      self.path = path
      self.documents = documents
      self.names = names
      self.bytes = bytes
      self.leavingDocuments = leavingDocuments
      self.leavingBytes = leavingBytes
    }
  }

  package enum Policy: String, Codable, Hashable, Sendable {
    /// The least recently used tenth goes when the cache is larger than its limit.
    case leastRecentlyUsed
    /// A document goes as soon as nothing refers to it.
    case eager
    case never
  }

  /// The time by the clock of the client's machine at which the survey ended.
  package var time: Timestamp
  package var policy: Policy
  /// The size on disk with the log, or of a cache in memory of its pages.
  package var bytes: Int64
  /// The size of the pages that hold nothing.
  package var freeBytes: Int64
  /// The size above which the cache is collected; `nil` for never.
  package var limit: Int64?
  /// The collections, the largest first; no more than `ClientInside.listed`.
  package var shares: [Share]
  package var collectionCount: Int
  /// The number of results that the cache keeps, of listeners that are there and of earlier ones.
  package var targets: Int
  /// The number of results that a garbage collection would take now.
  package var leavingTargets: Int

  package init(
    time: Timestamp, policy: Policy, bytes: Int64, freeBytes: Int64, limit: Int64?, shares: [Share], targets: Int,
    leavingTargets: Int
  ) {
    self.time = time
    self.policy = policy
    self.bytes = bytes
    self.freeBytes = freeBytes
    self.limit = limit
    self.shares = Array(shares.sorted { ($0.bytes, $1.path) > ($1.bytes, $0.path) }.prefix(ClientInside.listed))
    collectionCount = shares.count
    self.targets = targets
    self.leavingTargets = leavingTargets
  }
}

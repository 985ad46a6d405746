// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// The contents and size of the offline cache.
public struct CacheStatus: Hashable, Sendable {
  /// The cache's size on disk, including SQLite's write-ahead log. For a memory cache, the size of its tables in
  /// memory.
  public let sizeBytes: Int64
  /// The unused part of `sizeBytes`, which the cache will reuse or release.
  public let freeBytes: Int64
  /// The size limit in bytes; `nil` for no limit. If the cache exceeds it, the least recently used documents are
  /// evicted.
  public let limitBytes: Int64?
  /// The number of cached documents, including documents that are known not to exist.
  public let documentCount: Int
  /// The number of queries whose results are cached.
  public let queryCount: Int
  /// The number of pending writes.
  public let pendingWriteCount: Int
}

/// The documents and queries that a garbage collection of the cache evicted, or would evict.
public struct CacheGarbageCollection: Hashable, Sendable {
  /// A query whose result is evicted because it is the least recently used.
  public struct DroppedQuery: Hashable, Sendable {
    /// The path of the collection or document that the query reads. For a collection group, the path of the ancestor to
    /// which the query is limited.
    public let path: String
    /// The whole query, in the cache's notation.
    public let description: String
    /// The number of documents in the query's result. Documents that another query, a listener or a pending write needs
    /// are not evicted.
    public let documentCount: Int
  }

  /// Whether this was a dry run. A dry run evicts nothing, but reports the same numbers as a real run.
  public let isDryRun: Bool
  /// The number of evicted documents. No remaining query, listener or pending write needed them.
  public let documentCount: Int
  /// The number of bytes by which the cache shrank. In a dry run, the size of the documents that would be evicted.
  public let byteCount: Int64
  /// The queries whose results were evicted, least recently used first.
  public let queries: [DroppedQuery]
}

extension Firestore {
  /// Counts the contents of the cache. This takes a few milliseconds for a large cache.
  public func cacheStatus() async throws -> CacheStatus {
    try await ask { engine throws(RPCStatus) in CacheStatus(try await engine.cacheOccupancy()) }
  }

  /// Evicts the least recently used 10 % of the cache if the cache has reached its size limit. This also happens
  /// automatically every five minutes. Listeners and writes continue to work meanwhile.
  /// - Parameter dryRun: whether to evict nothing, and only report what would be evicted if the cache had reached its
  ///   limit.
  /// - Returns: `nil` if the cache is below its limit, has no limit, or is a memory cache with eager collection.
  @discardableResult public func collectGarbage(dryRun: Bool = false) async throws -> CacheGarbageCollection? {
    let engine = try client().engine
    do {
      let before = try await engine.cacheOccupancy().bytes
      guard let run = try await engine.collectGarbage(isDryRun: dryRun) else { return nil }
      let after = try await engine.cacheOccupancy().bytes
      return CacheGarbageCollection(
        isDryRun: dryRun, documentCount: dryRun ? run.plan.documents : run.documentsRemoved,
        byteCount: dryRun ? run.plan.bytes : max(0, before - after),
        queries: run.plan.targets.map { CacheGarbageCollection.DroppedQuery($0) })
    } catch {
      throw FirestoreError(error)
    }
  }
}

extension CacheStatus {
  init(_ size: CacheOccupancy) {
    sizeBytes = size.bytes
    freeBytes = size.freeBytes
    limitBytes = if case .leastRecentlyUsed(let threshold) = size.policy { threshold } else { nil }
    documentCount = size.documents
    queryCount = size.targets
    pendingWriteCount = size.pendingWrites
  }
}

extension CacheGarbageCollection.DroppedQuery {
  init(_ leaving: GarbageCollectionPlan.LeavingTarget) {
    path = leaving.target.path.text
    description = leaving.target.canonicalID
    documentCount = leaving.documents
  }
}

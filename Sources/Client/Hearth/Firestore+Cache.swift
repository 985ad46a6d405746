// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// The contents of the offline cache and the room that it takes.
public struct CacheStatus: Hashable, Sendable {
  /// The cache's size on disk, the database's log included; for a memory cache the memory of its tables.
  public let sizeBytes: Int64
  /// The part of `sizeBytes` that holds nothing any more and will be used again or given back.
  public let freeBytes: Int64
  /// The size from which on the least recently used documents are dropped; `nil` for a cache that is not limited by
  /// size.
  public let limitBytes: Int64?
  /// The number of documents, documents that are known not to exist included.
  public let documentCount: Int
  /// The number of queries whose results are kept.
  public let queryCount: Int
  /// The number of writes that wait for the backend.
  public let pendingWriteCount: Int
}

/// The documents and queries that a collection of the cache's garbage has dropped, or would drop.
public struct CacheGarbageCollection: Hashable, Sendable {
  /// A query whose result is dropped because it was used least recently.
  public struct DroppedQuery: Hashable, Sendable {
    /// The path of the collection or document; for a collection group, the path below which it is looked for.
    public let path: String
    /// The whole query, in the form in which the cache names it.
    public let description: String
    /// The number of documents of its result; a document that another query, a listener or a waiting write needs stays.
    public let documentCount: Int
  }

  /// Whether this was a dry run: nothing was dropped, and the figures are those of a real run.
  public let isDryRun: Bool
  /// The number of dropped documents: they are in no remaining query's result, no listener and no waiting write.
  public let documentCount: Int
  /// The size of these documents in a dry run; otherwise the number of bytes by which the cache has become smaller.
  public let byteCount: Int64
  /// The queries whose results were dropped, the least recently used first.
  public let queries: [DroppedQuery]
}

extension Firestore {
  /// Counts the contents of the cache, which takes a few milliseconds for a large one.
  public func cacheStatus() async throws -> CacheStatus {
    try await ask { engine throws(RPCStatus) in CacheStatus(try await engine.cacheOccupancy()) }
  }

  /// Drops the least recently used tenth of the cache, as happens by itself every five minutes, if the cache has
  /// reached its size limit. Listeners and writes go on meanwhile.
  /// - Parameter dryRun: whether nothing is dropped; the result is that of a run on a cache which has reached its
  ///   limit.
  /// - Returns: `nil` if the cache is below its limit or has none, and for a memory cache with eager collection.
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

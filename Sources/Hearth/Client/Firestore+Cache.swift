// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// What the offline cache holds and how much room it takes.
public struct CacheStatus: Hashable, Sendable {
  /// On disk, the database's log included; for a memory cache the memory of its tables.
  public let sizeBytes: Int64
  /// The part of it that holds nothing any more and will be used again or given back.
  public let freeBytes: Int64
  /// From which size on the least recently used documents are dropped; `nil` for a cache that is not limited by size.
  public let limitBytes: Int64?
  /// Documents, among them those that are known not to exist.
  public let documentCount: Int
  /// Queries whose results are kept.
  public let queryCount: Int
  /// Writes that wait for the backend.
  public let pendingWriteCount: Int
}

/// What a collection of the cache has dropped, or what it would drop.
public struct CacheGarbageCollection: Hashable, Sendable {
  /// A query whose result is dropped because it was used least recently.
  public struct DroppedQuery: Hashable, Sendable {
    /// The collection, the document, or where the collection group is looked for.
    public let path: String
    /// The query in full, in the form in which the cache names it.
    public let description: String
    /// Documents of its result; those that something else still needs stay.
    public let documentCount: Int
  }

  /// Whether nothing was dropped, and the figures say what would be.
  public let isDryRun: Bool
  /// Documents that no remaining query's result contains, that no listener shows and no waiting write changes.
  public let documentCount: Int
  /// Of these documents in a dry run; otherwise by how much the cache has become smaller.
  public let byteCount: Int64
  /// The queries whose results were dropped, the least recently used first.
  public let queries: [DroppedQuery]
}

extension Firestore {
  /// How large the cache is and what it holds. Counts, so it takes a few milliseconds for a large cache.
  public func cacheStatus() async throws -> CacheStatus {
    try await ask { engine throws(RPCStatus) in CacheStatus(try await engine.cacheOccupancy()) }
  }

  /// Drops the least recently used tenth of the cache, as happens by itself every five minutes, if the cache has
  /// reached its size limit. Listeners and writes go on meanwhile.
  /// - Parameter dryRun: drops nothing, and tells what would go if the limit were reached.
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

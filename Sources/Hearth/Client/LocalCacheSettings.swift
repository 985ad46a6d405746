// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
public import Foundation

/// No limit of the cache's size: nothing is ever dropped. To be given wherever a size in bytes is asked for.
public let FirestoreCacheSizeUnlimited: Int64 = -1

/// How the offline cache is kept: `PersistentCacheSettings` or `MemoryCacheSettings`.
public protocol LocalCacheSettings: Sendable {}

/// A cache that survives the process.
public struct PersistentCacheSettings: LocalCacheSettings, Hashable {
  /// Bytes above which the least recently used documents are dropped.
  public let sizeBytes: Int64
  /// Whether other clients may use the cache at the same time.
  public let tabManager: PersistentTabManager

  /// - Parameters:
  ///   - sizeBytes: at least 1 000 000 (the SDK asks for 1 048 576, against its own samples), or
  ///     `FirestoreCacheSizeUnlimited`; anything else is reported when the settings are used.
  ///   - tabManager: by default the cache is this client's alone.
  public init(sizeBytes: some BinaryInteger, tabManager: PersistentTabManager = .single) {
    self.sizeBytes = Int64(clamping: sizeBytes)
    self.tabManager = tabManager
  }

  /// With a size as the SDK takes it: `100 * 1024 * 1024 as NSNumber`. A part of a byte is dropped.
  /// - Parameter tabManager: by default the cache is this client's alone.
  public init(sizeBytes: NSNumber, tabManager: PersistentTabManager = .single) {
    self.init(sizeBytes: sizeBytes.int64Value, tabManager: tabManager)
  }

  /// 100 MiB, as in the SDK for Apple platforms.
  /// - Parameter tabManager: by default the cache is this client's alone.
  public init(tabManager: PersistentTabManager = .single) {
    self.init(sizeBytes: CacheSize.default, tabManager: tabManager)
  }
}

/// Who may use a persistent cache at the same time: what tabs are to the web SDK, processes are here, and clients of one
/// process.
public enum PersistentTabManager: Hashable, Sendable {
  /// One client. While it is open, any other that is given the cache works in memory, and says so
  /// (`Firestore.persistenceFailure`: `failedPrecondition`).
  case single
  /// All clients that choose this. One of them has the connection; the others write and listen through the cache, and
  /// see the writes of all. When that one ends, is killed or stops, another takes its place.
  case multiple
}

/// The web SDK's spelling of `PersistentTabManager.single`.
public func persistentSingleTabManager() -> PersistentTabManager { .single }

/// The web SDK's spelling of `PersistentTabManager.multiple`.
public func persistentMultipleTabManager() -> PersistentTabManager { .multiple }

/// A cache that ends with the process.
public struct MemoryCacheSettings: LocalCacheSettings {
  /// What the cache forgets, and when.
  public let garbageCollectorSettings: any MemoryGarbageCollectorSettings

  /// - Parameter garbageCollectorSettings: least recently used with 100 MiB if left out, as in the SDK since 11.0.
  public init(garbageCollectorSettings: any MemoryGarbageCollectorSettings = MemoryLRUGCSettings()) {
    self.garbageCollectorSettings = garbageCollectorSettings
  }
}

/// What a memory cache forgets, and when.
public protocol MemoryGarbageCollectorSettings: Sendable {}

/// Forgets a document as soon as no listener and no pending write needs it.
public struct MemoryEagerGCSettings: MemoryGarbageCollectorSettings, Hashable {
  /// There is nothing to set.
  public init() {}
}

/// The SDK's spelling of `MemoryEagerGCSettings`.
public typealias MemoryEagerGCSetting = MemoryEagerGCSettings

/// Forgets the least recently used documents above a size.
public struct MemoryLRUGCSettings: MemoryGarbageCollectorSettings, Hashable {
  /// Bytes of memory above which the least recently used documents are dropped.
  public let sizeBytes: Int64

  /// - Parameter sizeBytes: as for `PersistentCacheSettings`.
  public init(sizeBytes: some BinaryInteger) { self.sizeBytes = Int64(clamping: sizeBytes) }

  /// With a size as the SDK takes it: `100 * 1024 * 1024 as NSNumber`. A part of a byte is dropped.
  public init(sizeBytes: NSNumber) { self.init(sizeBytes: sizeBytes.int64Value) }

  /// 100 MiB.
  public init() { self.init(sizeBytes: CacheSize.default) }
}

enum CacheSize {
  /// SDK `Settings::DefaultCacheSizeBytes`.
  static let `default`: Int64 = 100 * 1024 * 1024
  /// What the reference pages call 1 MB.
  static let minimum: Int64 = 1_000_000

  static func policy(ofBytes bytes: Int64) throws(FirestoreError) -> GarbageCollectionPolicy {
    if bytes == FirestoreCacheSizeUnlimited { return .never }
    guard bytes >= minimum else {
      throw .invalidArgument(
        "A cache size must be at least \(minimum) bytes or FirestoreCacheSizeUnlimited, not \(bytes).")
    }
    return .leastRecentlyUsed(thresholdBytes: bytes)
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
public import Foundation

/// The size of a cache without a limit: nothing is ever dropped. Can be given for every size in bytes.
public let FirestoreCacheSizeUnlimited: Int64 = -1

/// The kind of the offline cache: `PersistentCacheSettings` or `MemoryCacheSettings`.
public protocol LocalCacheSettings: Sendable {}

/// A cache that survives the process.
public struct PersistentCacheSettings: LocalCacheSettings, Hashable {
  /// Bytes above which the least recently used documents are dropped.
  public let sizeBytes: Int64
  /// The rule whether other clients may use the cache at the same time.
  public let tabManager: PersistentTabManager

  /// Makes settings with a size.
  /// - Parameters:
  ///   - sizeBytes: at least 1 000 000 (the SDK asks for 1 048 576, against its own samples), or
  ///     `FirestoreCacheSizeUnlimited`; any other size is reported when the settings are used.
  ///   - tabManager: by default the cache is this client's alone.
  public init(sizeBytes: some BinaryInteger, tabManager: PersistentTabManager = .single) {
    self.sizeBytes = Int64(clamping: sizeBytes)
    self.tabManager = tabManager
  }

  /// Takes the size in the SDK's form: `100 * 1024 * 1024 as NSNumber`. A fraction of a byte is dropped.
  /// - Parameter tabManager: by default the cache is this client's alone.
  public init(sizeBytes: NSNumber, tabManager: PersistentTabManager = .single) {
    self.init(sizeBytes: sizeBytes.int64Value, tabManager: tabManager)
  }

  /// Makes settings with 100 MiB, as in the SDK for Apple platforms.
  /// - Parameter tabManager: by default the cache is this client's alone.
  public init(tabManager: PersistentTabManager = .single) {
    self.init(sizeBytes: CacheSize.default, tabManager: tabManager)
  }
}

/// The clients that may use a persistent cache at the same time. Processes here, and clients of one process, are like
/// tabs for the web SDK.
public enum PersistentTabManager: Hashable, Sendable {
  /// One client. While it is open, any other client that is given the cache works in memory, and says so
  /// (`Firestore.persistenceFailure`: `failedPrecondition`).
  case single
  /// All clients that choose this case. One of them has the connection; the others write and listen through the cache,
  /// and see the writes of all. When that client ends, is killed or stops, another takes its place.
  case multiple
}

/// The web SDK's spelling of `PersistentTabManager.single`.
public func persistentSingleTabManager() -> PersistentTabManager { .single }

/// The web SDK's spelling of `PersistentTabManager.multiple`.
public func persistentMultipleTabManager() -> PersistentTabManager { .multiple }

/// A cache that ends with the process.
public struct MemoryCacheSettings: LocalCacheSettings {
  /// The rule by which the cache forgets documents.
  public let garbageCollectorSettings: any MemoryGarbageCollectorSettings

  /// Makes settings with a rule by which documents are forgotten.
  /// - Parameter garbageCollectorSettings: least recently used with 100 MiB if left out, as in the SDK since 11.0.
  public init(garbageCollectorSettings: any MemoryGarbageCollectorSettings = MemoryLRUGCSettings()) {
    self.garbageCollectorSettings = garbageCollectorSettings
  }
}

/// The rule by which a memory cache forgets documents: `MemoryEagerGCSettings` or `MemoryLRUGCSettings`.
public protocol MemoryGarbageCollectorSettings: Sendable {}

/// Forgets a document as soon as no listener and no pending write needs it.
public struct MemoryEagerGCSettings: MemoryGarbageCollectorSettings, Hashable {
  /// Makes the settings, which have no parameters.
  public init() {}
}

/// The SDK's spelling of `MemoryEagerGCSettings`.
public typealias MemoryEagerGCSetting = MemoryEagerGCSettings

/// Forgets the least recently used documents above a size.
public struct MemoryLRUGCSettings: MemoryGarbageCollectorSettings, Hashable {
  /// Bytes of memory above which the least recently used documents are dropped.
  public let sizeBytes: Int64

  /// Makes settings with a size.
  /// - Parameter sizeBytes: as for `PersistentCacheSettings`.
  public init(sizeBytes: some BinaryInteger) { self.sizeBytes = Int64(clamping: sizeBytes) }

  /// Takes the size in the SDK's form: `100 * 1024 * 1024 as NSNumber`. A fraction of a byte is dropped.
  public init(sizeBytes: NSNumber) { self.init(sizeBytes: sizeBytes.int64Value) }

  /// Makes settings with 100 MiB.
  public init() { self.init(sizeBytes: CacheSize.default) }
}

enum CacheSize {
  /// SDK `Settings::DefaultCacheSizeBytes`.
  static let `default`: Int64 = 100 * 1024 * 1024
  /// The smallest size, which the reference pages call 1 MB.
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

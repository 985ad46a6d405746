// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import FirestoreLocal
public import Foundation
import Synchronization

/// The settings of a `Firestore`; assign them before its first use.
///
/// A class, as in the official SDK, so that `let settings = …; settings.host = …` compiles. An assignment to
/// `Firestore.settings` copies it.
public final class FirestoreSettings: Sendable {
  struct Storage {
    /// The server's address; `nil` for Cloud Firestore, or for the address in the environment.
    var host: String?
    /// The address that the client with these settings uses, if `host` was not set.
    var usedHost: String?
    var isSSLEnabled = true
    /// The address of an emulator. It takes precedence over the app's backend.
    var emulator: String?
    var dispatchQueue: DispatchQueue
    var cacheSettings: (any LocalCacheSettings)?
    var isPersistenceEnabled: Bool?
    var cacheSizeBytes: Int64?
    var allowsInsecureCredentials = false
    var isInspectable = false
    /// Whether the cache of the client with these settings survives the process; `nil` while unknown.
    var isDurable: Bool?
  }

  private let storage: Mutex<Storage>

  /// The default queue. The SDK's default is the main queue, but many Linux programs have no main loop that runs its
  /// callbacks.
  private static let callbackQueue = DispatchQueue(label: "hearth.callbacks")

  /// Creates settings with a durable cache of 100 MiB, and callbacks on a serial queue of Hearth.
  public convenience init() {
    self.init(Storage(dispatchQueue: Self.callbackQueue))
  }

  init(_ storage: Storage) { self.storage = Mutex(storage) }

  var values: Storage { storage.withLock { $0 } }

  /// The server of a remote backend, `NAME` or `NAME:PORT`. Embedded backends ignore it.
  ///
  /// The default is the emulator in the environment variable `FIRESTORE_EMULATOR_HOST`, which is contacted in plain
  /// text, or Cloud Firestore. The settings of a `Firestore` contain the server in use, or `embedded` for an embedded
  /// backend.
  public var host: String {
    get { values.emulator ?? values.host ?? values.usedHost ?? Backend.cloudHost }
    set { storage.withLock { $0.host = newValue } }
  }

  /// Whether a remote backend is contacted over TLS.
  public var isSSLEnabled: Bool {
    get { values.emulator == nil && values.isSSLEnabled }
    set { storage.withLock { $0.isSSLEnabled = newValue } }
  }

  /// Whether credentials may be sent where others can read them. That is any connection without TLS. For access tokens
  /// of a user or a machine, which several servers accept, it is also any host that is not Google's. If `false`, every
  /// call that would send such credentials fails with `failedPrecondition`. Not needed for emulators, which receive no
  /// secrets.
  public var allowsInsecureCredentials: Bool {
    get { values.allowsInsecureCredentials }
    set { storage.withLock { $0.allowsInsecureCredentials = newValue } }
  }

  /// Whether `hearth attach` may watch this client while the program runs, and with `--control` disable and enable its
  /// network, interrupt its connection to the backend, and retry, cancel or drop its writes. `false` by default. The
  /// environment variable `HEARTH_INSPECT` takes precedence: `1` allows it, `0` forbids it.
  ///
  /// Watchers see everything in the client: listeners with their queries, documents in its cache, pending and rejected
  /// writes. Only processes of the same user (and root) can watch, on a socket with mode 0600 in a directory with mode
  /// 0700: `$XDG_RUNTIME_DIR/hearth`, or `/tmp/hearth-UID`. If that directory cannot be created, watching is
  /// impossible, and the log contains the reason. Without watchers this costs nothing. With a watcher, it uses about 1
  /// % of the program's processor time or 5 ms per second, whichever is more. The watcher is notified of omitted
  /// events. When a watcher disconnects, its changes of the network and its faults are undone. The socket is removed
  /// when the program exits, and when SIGTERM, SIGINT or SIGHUP ends it by their default action; a program's own
  /// handlers remain.
  public var isInspectable: Bool {
    get { values.isInspectable }
    set { storage.withLock { $0.isInspectable = newValue } }
  }

  /// Sets an emulator's address, which takes precedence over `host` and the app's backend.
  func setEmulator(_ address: String) { storage.withLock { $0.emulator = address } }

  /// The queue for listeners and completions. Must be serial.
  public var dispatchQueue: DispatchQueue {
    get { values.dispatchQueue }
    set { storage.withLock { $0.dispatchQueue = newValue } }
  }

  /// The kind and size of the cache: durable or in memory. Cannot be combined with the older `isPersistenceEnabled` and
  /// `cacheSizeBytes`: the first use then fails with `invalidArgument`.
  public var cacheSettings: any LocalCacheSettings {
    get { values.reportedCacheSettings }
    set {
      storage.withLock { storage in
        storage.cacheSettings = newValue
        storage.isDurable = nil
      }
    }
  }

  /// The older form of `cacheSettings`: a durable cache (`true`, the default) or a memory cache (`false`).
  public var isPersistenceEnabled: Bool {
    get { values.reportedCacheSettings is PersistentCacheSettings }
    set {
      storage.withLock { storage in
        storage.isPersistenceEnabled = newValue
        storage.isDurable = nil
      }
    }
  }

  /// The older form of the size in `cacheSettings`.
  public var cacheSizeBytes: Int64 {
    get { values.effectiveCacheSettings.sizeLimit ?? CacheSize.default }
    set { storage.withLock { $0.cacheSizeBytes = newValue } }
  }
}

extension FirestoreSettings {
  /// The same settings with a durable cache. Clears `isPersistenceEnabled` and `cacheSizeBytes`.
  func withPersistence(_ tabManager: PersistentTabManager) -> FirestoreSettings {
    var values = values
    let size = values.effectiveCacheSettings.sizeLimit ?? CacheSize.default
    values.cacheSettings = PersistentCacheSettings(sizeBytes: size, tabManager: tabManager)
    (values.isPersistenceEnabled, values.cacheSizeBytes, values.isDurable) = (nil, nil, nil)
    return FirestoreSettings(values)
  }
}

extension FirestoreSettings: Hashable {
  /// Whether both settings lead to the same client. Invalid settings are equal only to themselves.
  public static func == (left: FirestoreSettings, right: FirestoreSettings) -> Bool {
    left === right || left.values.isSatisfied(with: right.values)
  }

  /// Hashes the host and the use of TLS.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(values.emulator ?? values.host)
    hasher.combine(isSSLEnabled)
  }
}

extension FirestoreSettings.Storage {
  var effectiveCacheSettings: any LocalCacheSettings {
    if let cacheSettings { return cacheSettings }
    let size = cacheSizeBytes ?? CacheSize.default
    if isPersistenceEnabled ?? true { return PersistentCacheSettings(sizeBytes: size) }
    return MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings(sizeBytes: size))
  }

  /// The cache settings in use: memory if the requested durable cache is unavailable.
  var reportedCacheSettings: any LocalCacheSettings {
    let asked = effectiveCacheSettings
    guard isDurable == false, let persistent = asked as? PersistentCacheSettings else { return asked }
    return MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings(sizeBytes: persistent.sizeBytes))
  }

  /// The kind, sharing and size policy of the cache.
  /// - Throws: `invalidArgument` for contradictory settings, and for a cache that is too small.
  func cachePlan() throws(FirestoreError) -> CachePlan {
    if cacheSettings != nil, isPersistenceEnabled != nil || cacheSizeBytes != nil {
      throw .invalidArgument(
        "FirestoreSettings has both cacheSettings and isPersistenceEnabled or cacheSizeBytes. Set only cacheSettings.")
    }
    switch effectiveCacheSettings {
    case let persistent as PersistentCacheSettings:
      return CachePlan(
        isDurable: true, isShared: persistent.tabManager == .multiple,
        policy: try CacheSize.policy(ofBytes: persistent.sizeBytes))
    case let memory as MemoryCacheSettings:
      switch memory.garbageCollectorSettings {
      case let leastRecentlyUsed as MemoryLRUGCSettings:
        return CachePlan(isDurable: false, policy: try CacheSize.policy(ofBytes: leastRecentlyUsed.sizeBytes))
      default: return CachePlan(isDurable: false, policy: .eager)
      }
    default:
      throw .invalidArgument("cacheSettings must be PersistentCacheSettings or MemoryCacheSettings.")
    }
  }

  /// Whether a client with these settings is also valid for the settings `other`.
  func isSatisfied(with other: Self) -> Bool {
    guard let plan = try? cachePlan(), let otherPlan = try? other.cachePlan() else { return false }
    return plan == otherPlan && host == other.host && emulator == other.emulator && isSSLEnabled == other.isSSLEnabled
      && dispatchQueue === other.dispatchQueue && allowsInsecureCredentials == other.allowsInsecureCredentials
      && isInspectable == other.isInspectable
  }
}

struct CachePlan: Equatable {
  var isDurable: Bool
  var isShared = false
  var policy: GarbageCollectionPolicy
}

extension LocalCacheSettings {
  fileprivate var sizeLimit: Int64? {
    switch self {
    case let persistent as PersistentCacheSettings: persistent.sizeBytes
    case let memory as MemoryCacheSettings: (memory.garbageCollectorSettings as? MemoryLRUGCSettings)?.sizeBytes
    default: nil
    }
  }
}

/// The size of a cache without a limit: nothing is ever evicted. Every size parameter accepts it.
public let FirestoreCacheSizeUnlimited: Int64 = -1

/// The kind of the offline cache: `PersistentCacheSettings` or `MemoryCacheSettings`.
public protocol LocalCacheSettings: Sendable {}

/// A cache that survives the process.
public struct PersistentCacheSettings: LocalCacheSettings, Hashable {
  /// The size limit in bytes. Above it, the least recently used documents are evicted.
  public let sizeBytes: Int64
  /// The clients that may use the cache at the same time.
  public let tabManager: PersistentTabManager

  /// Creates settings with a size.
  /// - Parameters:
  ///   - sizeBytes: at least 1 000 000 (the SDK requires 1 048 576, contrary to its own samples), or
  ///     `FirestoreCacheSizeUnlimited`; the first use reports any other size.
  ///   - tabManager: by default, this client has exclusive use of the cache.
  public init(sizeBytes: some BinaryInteger, tabManager: PersistentTabManager = .single) {
    self.sizeBytes = Int64(clamping: sizeBytes)
    self.tabManager = tabManager
  }

  /// Creates settings with the size in the SDK's form: `100 * 1024 * 1024 as NSNumber`. A fraction of a byte is
  /// dropped.
  /// - Parameter tabManager: by default, this client has exclusive use of the cache.
  public init(sizeBytes: NSNumber, tabManager: PersistentTabManager = .single) {
    self.init(sizeBytes: sizeBytes.int64Value, tabManager: tabManager)
  }

  /// Creates settings with 100 MiB, as in the SDK for Apple platforms.
  /// - Parameter tabManager: by default, this client has exclusive use of the cache.
  public init(tabManager: PersistentTabManager = .single) {
    self.init(sizeBytes: CacheSize.default, tabManager: tabManager)
  }
}

/// The clients that may use a persistent cache at the same time. Processes, and clients in one process, correspond to
/// tabs in the web SDK.
public enum PersistentTabManager: Hashable, Sendable {
  /// One client. While it is open, any other client with this cache works in memory, and its
  /// `Firestore.persistenceFailure` is `failedPrecondition`.
  case single
  /// All clients with this case. One of them has the connection. The others write and listen through the cache, and see
  /// all clients' writes. When the client with the connection ends, is killed or stops, another one replaces it.
  case multiple
}

/// The web SDK's spelling of `PersistentTabManager.single`.
public func persistentSingleTabManager() -> PersistentTabManager { .single }

/// The web SDK's spelling of `PersistentTabManager.multiple`.
public func persistentMultipleTabManager() -> PersistentTabManager { .multiple }

/// A cache that ends with the process.
public struct MemoryCacheSettings: LocalCacheSettings {
  /// The eviction rule of the cache.
  public let garbageCollectorSettings: any MemoryGarbageCollectorSettings

  /// Creates settings with an eviction rule.
  /// - Parameter garbageCollectorSettings: by default least recently used with 100 MiB, as in the SDK since 11.0.
  public init(garbageCollectorSettings: any MemoryGarbageCollectorSettings = MemoryLRUGCSettings()) {
    self.garbageCollectorSettings = garbageCollectorSettings
  }
}

/// The eviction rule of a memory cache: `MemoryEagerGCSettings` or `MemoryLRUGCSettings`.
public protocol MemoryGarbageCollectorSettings: Sendable {}

/// Evicts a document as soon as no listener and no pending write needs it.
public struct MemoryEagerGCSettings: MemoryGarbageCollectorSettings, Hashable {
  /// Creates the settings, which have no parameters.
  public init() {}
}

/// The SDK's spelling of `MemoryEagerGCSettings`.
public typealias MemoryEagerGCSetting = MemoryEagerGCSettings

/// Evicts the least recently used documents above a size.
public struct MemoryLRUGCSettings: MemoryGarbageCollectorSettings, Hashable {
  /// The limit of the memory size in bytes. Above it, the least recently used documents are evicted.
  public let sizeBytes: Int64

  /// Creates settings with a size.
  /// - Parameter sizeBytes: as for `PersistentCacheSettings`.
  public init(sizeBytes: some BinaryInteger) { self.sizeBytes = Int64(clamping: sizeBytes) }

  /// Creates settings with the size in the SDK's form: `100 * 1024 * 1024 as NSNumber`. A fraction of a byte is
  /// dropped.
  public init(sizeBytes: NSNumber) { self.init(sizeBytes: sizeBytes.int64Value) }

  /// Creates settings with 100 MiB.
  public init() { self.init(sizeBytes: CacheSize.default) }
}

enum CacheSize {
  /// SDK `Settings::DefaultCacheSizeBytes`.
  static let `default`: Int64 = 100 * 1024 * 1024
  /// The minimum size, which the reference pages call 1 MB.
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

// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import FirestoreLocal
public import Foundation
import Synchronization

/// The settings of a `Firestore`. Assign them before the instance's first use.
///
/// This type is a class, as in the official SDK, so that `let settings = …; settings.host = …` compiles. Assigning it
/// to `Firestore.settings` makes a copy.
public final class FirestoreSettings: Sendable {
  struct Storage {
    /// The server's address; `nil` for the address in the environment, or for Cloud Firestore.
    var host: String?
    /// The address that a client with these settings uses while `host` is not set.
    var usedHost: String?
    var isSSLEnabled = true
    /// The address of an emulator, which takes precedence over the app's backend.
    var emulator: String?
    var dispatchQueue: DispatchQueue
    var cacheSettings: (any LocalCacheSettings)?
    var isPersistenceEnabled: Bool?
    var cacheSizeBytes: Int64?
    var allowsInsecureCredentials = false
    var isInspectable = false
    /// Whether the cache of a client with these settings persists after the process ends; `nil` while unknown.
    var isDurable: Bool?
  }

  private let storage: Mutex<Storage>

  /// The default queue. The SDK's default is the main queue, but many Linux programs have no main loop, so callbacks on
  /// that queue would never run.
  private static let callbackQueue = DispatchQueue(label: "hearth.callbacks")

  /// Creates settings with a durable cache of 100 MiB. Callbacks run on a serial queue that Hearth creates.
  public convenience init() {
    self.init(Storage(dispatchQueue: Self.callbackQueue))
  }

  init(_ storage: Storage) { self.storage = Mutex(storage) }

  var values: Storage { storage.withLock { $0 } }

  /// The address of a remote backend's server, `NAME` or `NAME:PORT`. Embedded backends ignore it.
  ///
  /// The default is the value of the environment variable `FIRESTORE_EMULATOR_HOST`, an emulator that Hearth contacts
  /// without TLS. If the variable is not set, the default is Cloud Firestore. `Firestore.settings` contains the address
  /// in use, or `embedded` for an embedded backend.
  public var host: String {
    get { values.emulator ?? values.host ?? values.usedHost ?? Backend.cloudHost }
    set { storage.withLock { $0.host = newValue } }
  }

  /// Whether Hearth contacts a remote backend over TLS.
  public var isSSLEnabled: Bool {
    get { values.emulator == nil && values.isSSLEnabled }
    set { storage.withLock { $0.isSSLEnabled = newValue } }
  }

  /// Whether credentials may be sent where others could read them. This setting concerns every connection without TLS.
  /// Access tokens of a user or a machine are valid at several servers, so for such tokens the setting also concerns
  /// every host that is not Google's. If `false`, every call that would send such credentials fails with
  /// `failedPrecondition`. Emulators do not need this setting, because they receive no secrets.
  public var allowsInsecureCredentials: Bool {
    get { values.allowsInsecureCredentials }
    set { storage.withLock { $0.allowsInsecureCredentials = newValue } }
  }

  /// Whether `hearth attach` may watch this client while the program runs. With `--control`, it may also disable and
  /// enable the client's network, interrupt its connection to the backend, and retry, cancel or drop its writes.
  /// `false` by default. The environment variable `HEARTH_INSPECT` takes precedence: `1` allows watching, and `0`
  /// forbids it.
  ///
  /// Watchers see everything in the client: listeners with their queries, documents in its cache, pending and rejected
  /// writes. Only processes of the same user and of root can watch. They connect to a socket with mode 0600 in a
  /// directory with mode 0700: `$XDG_RUNTIME_DIR/hearth`, or `/tmp/hearth-UID`. If that directory cannot be created,
  /// watching is impossible, and the log contains the reason. Without watchers, inspection has no cost. With a watcher,
  /// inspection uses about 1 % of the program's processor time or 5 ms per second, whichever is more. Events that would
  /// need more time are omitted, and the watcher receives their count. When a watcher disconnects, Hearth undoes its
  /// network changes and injected faults. Hearth removes the socket when the program exits, also if the default action
  /// of SIGTERM, SIGINT or SIGHUP ends the program. Signal handlers that the program has installed are not replaced.
  public var isInspectable: Bool {
    get { values.isInspectable }
    set { storage.withLock { $0.isInspectable = newValue } }
  }

  /// Sets an emulator's address, which takes precedence over `host` and over the app's backend.
  func setEmulator(_ address: String) { storage.withLock { $0.emulator = address } }

  /// The queue on which listeners and completions are called. It must be serial.
  public var dispatchQueue: DispatchQueue {
    get { values.dispatchQueue }
    set { storage.withLock { $0.dispatchQueue = newValue } }
  }

  /// The kind and size of the cache: durable or in memory. Do not combine it with the older properties
  /// `isPersistenceEnabled` and `cacheSizeBytes`: the first use would then fail with `invalidArgument`.
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

  /// The older form of the cache size, which is part of `cacheSettings`.
  public var cacheSizeBytes: Int64 {
    get { values.effectiveCacheSettings.sizeLimit ?? CacheSize.default }
    set { storage.withLock { $0.cacheSizeBytes = newValue } }
  }
}

extension FirestoreSettings {
  /// A copy of the settings with a durable cache, in which `isPersistenceEnabled` and `cacheSizeBytes` are not set.
  func withPersistence(_ tabManager: PersistentTabManager) -> FirestoreSettings {
    var values = values
    let size = values.effectiveCacheSettings.sizeLimit ?? CacheSize.default
    values.cacheSettings = PersistentCacheSettings(sizeBytes: size, tabManager: tabManager)
    (values.isPersistenceEnabled, values.cacheSizeBytes, values.isDurable) = (nil, nil, nil)
    return FirestoreSettings(values)
  }
}

extension FirestoreSettings: Hashable {
  /// Whether clients with these settings behave the same. An object with invalid settings is equal only to itself.
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

  /// The settings of the cache in use: a memory cache if the requested durable cache is unavailable.
  var reportedCacheSettings: any LocalCacheSettings {
    let asked = effectiveCacheSettings
    guard isDurable == false, let persistent = asked as? PersistentCacheSettings else { return asked }
    return MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings(sizeBytes: persistent.sizeBytes))
  }

  /// The kind, sharing and size policy of the cache.
  /// - Throws: `invalidArgument` if settings contradict each other, or if the cache is too small.
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

  /// Whether a client that was opened with these settings also satisfies the settings `other`.
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

/// The cache size for a cache without a limit, from which nothing is ever evicted. Every size parameter accepts this
/// value.
public let FirestoreCacheSizeUnlimited: Int64 = -1

/// The kind of the offline cache: `PersistentCacheSettings` or `MemoryCacheSettings`.
public protocol LocalCacheSettings: Sendable {}

/// A cache that remains after the process ends.
public struct PersistentCacheSettings: LocalCacheSettings, Hashable {
  /// The size limit in bytes. If the cache exceeds it, the least recently used documents are evicted.
  public let sizeBytes: Int64
  /// Determines which clients may use the cache at the same time.
  public let tabManager: PersistentTabManager

  /// Creates settings with a size.
  /// - Parameters:
  ///   - sizeBytes: at least 1 000 000, or `FirestoreCacheSizeUnlimited`. The first use of the database reports any
  ///     other size as an error. (The SDK requires 1 048 576, which contradicts its own samples.)
  ///   - tabManager: which clients may use the cache. By default, only this client.
  public init(sizeBytes: some BinaryInteger, tabManager: PersistentTabManager = .single) {
    self.sizeBytes = Int64(clamping: sizeBytes)
    self.tabManager = tabManager
  }

  /// Creates settings with the size in the SDK's form: `100 * 1024 * 1024 as NSNumber`. A fraction of a byte is
  /// dropped.
  /// - Parameter tabManager: which clients may use the cache. By default, only this client.
  public init(sizeBytes: NSNumber, tabManager: PersistentTabManager = .single) {
    self.init(sizeBytes: sizeBytes.int64Value, tabManager: tabManager)
  }

  /// Creates settings with 100 MiB, as in the SDK for Apple platforms.
  /// - Parameter tabManager: which clients may use the cache. By default, only this client.
  public init(tabManager: PersistentTabManager = .single) {
    self.init(sizeBytes: CacheSize.default, tabManager: tabManager)
  }
}

/// Determines which clients may use a persistent cache at the same time. Processes, and clients in one process,
/// correspond to tabs in the web SDK.
public enum PersistentTabManager: Hashable, Sendable {
  /// One client at a time. Meanwhile, any other client with this cache directory works in memory, and that client's
  /// `Firestore.persistenceFailure` is `failedPrecondition`.
  case single
  /// All clients whose settings use `multiple`. One of these clients has the connection to the backend. The others
  /// write and listen through the cache, and see the writes of all clients. If the client with the connection ends, or
  /// its process is killed or stopped, another client takes over the connection.
  case multiple
}

/// The web SDK's spelling of `PersistentTabManager.single`.
public func persistentSingleTabManager() -> PersistentTabManager { .single }

/// The web SDK's spelling of `PersistentTabManager.multiple`.
public func persistentMultipleTabManager() -> PersistentTabManager { .multiple }

/// A cache in memory, which is lost when the process ends.
public struct MemoryCacheSettings: LocalCacheSettings {
  /// Determines which documents the cache evicts, and when.
  public let garbageCollectorSettings: any MemoryGarbageCollectorSettings

  /// Creates settings with the given eviction rule.
  /// - Parameter garbageCollectorSettings: the eviction rule. By default, the least recently used documents are evicted
  ///   above 100 MiB, as in the SDK since 11.0.
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

/// Evicts the least recently used documents when the cache exceeds a size.
public struct MemoryLRUGCSettings: MemoryGarbageCollectorSettings, Hashable {
  /// The size limit in bytes. If the cache exceeds it, the least recently used documents are evicted.
  public let sizeBytes: Int64

  /// Creates settings with a size.
  /// - Parameter sizeBytes: the limit; the same values are valid as for `PersistentCacheSettings`.
  public init(sizeBytes: some BinaryInteger) { self.sizeBytes = Int64(clamping: sizeBytes) }

  /// Creates settings with the size in the SDK's form: `100 * 1024 * 1024 as NSNumber`. A fraction of a byte is
  /// dropped.
  public init(sizeBytes: NSNumber) { self.init(sizeBytes: sizeBytes.int64Value) }

  /// Creates settings with 100 MiB.
  public init() { self.init(sizeBytes: CacheSize.default) }
}

enum CacheSize {
  /// The default size, as in the SDK (`Settings::DefaultCacheSizeBytes`).
  static let `default`: Int64 = 100 * 1024 * 1024
  /// The minimum size: 1 MB, according to the SDK's reference pages.
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

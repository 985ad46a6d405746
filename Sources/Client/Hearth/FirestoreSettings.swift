// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import FirestoreLocal
public import Foundation
import Synchronization

/// The settings of a `Firestore`, which are assigned before its first use.
///
/// A class, as in the official SDK, so that `let settings = …; settings.host = …` compiles; assigning it to
/// `Firestore.settings` copies it.
public final class FirestoreSettings: Sendable {
  struct Storage {
    /// The server's address; `nil` for Cloud Firestore, or the one that the environment names.
    var host: String?
    /// The address that the client with these settings really uses, if `host` was not set.
    var usedHost: String?
    var isSSLEnabled = true
    /// The address of an emulator, which takes the place of any backend.
    var emulator: String?
    var dispatchQueue: DispatchQueue
    var cacheSettings: (any LocalCacheSettings)?
    var isPersistenceEnabled: Bool?
    var cacheSizeBytes: Int64?
    var allowsInsecureCredentials = false
    var isInspectable = false
    /// Whether the cache of the client with these settings survives the process; `nil` while that is not known.
    var isDurable: Bool?
  }

  private let storage: Mutex<Storage>

  /// The default queue. The SDK's default is the main queue, but a program on Linux often runs no loop that serves it.
  private static let callbackQueue = DispatchQueue(label: "hearth.callbacks")

  /// Makes settings with a durable cache of 100 MiB, and callbacks on a serial queue of Hearth's.
  public convenience init() {
    self.init(Storage(dispatchQueue: Self.callbackQueue))
  }

  init(_ storage: Storage) { self.storage = Mutex(storage) }

  var values: Storage { storage.withLock { $0 } }

  /// The server of a remote backend, `NAME` or `NAME:PORT`. Embedded backends ignore it.
  ///
  /// The value until it is set: the emulator that the environment variable `FIRESTORE_EMULATOR_HOST` names, which is
  /// spoken to in plain text, else Cloud Firestore. The settings of a `Firestore` name the server that is really used:
  /// `embedded` for a backend in this process or its folder.
  public var host: String {
    get { values.emulator ?? values.host ?? values.usedHost ?? Backend.cloudHost }
    set { storage.withLock { $0.host = newValue } }
  }

  /// Whether a remote backend is spoken to over TLS.
  public var isSSLEnabled: Bool {
    get { values.emulator == nil && values.isSSLEnabled }
    set { storage.withLock { $0.isSSLEnabled = newValue } }
  }

  /// Whether credentials may go where others can take them: over a line without TLS, and, for the access tokens of a
  /// user or a machine, which open more than one server, to a host that is not Google's. Otherwise every call that
  /// would send them so fails with `failedPrecondition`. Not needed for emulators, which get no secret.
  public var allowsInsecureCredentials: Bool {
    get { values.allowsInsecureCredentials }
    set { storage.withLock { $0.allowsInsecureCredentials = newValue } }
  }

  /// Whether `hearth attach` may watch this client while the program runs, and with `--control` switch its network off
  /// and on, break the way to its backend, and retry, cancel or drop its waiting writes. `false` until it is set; the
  /// environment variable `HEARTH_INSPECT` counts more: `1` allows it, `0` forbids it.
  ///
  /// Everything that the client knows becomes visible: listeners with their queries, documents in its cache, waiting
  /// and refused writes. It is visible to processes of the same user (and to root), on a socket of mode 0600 in a
  /// folder of mode 0700: `$XDG_RUNTIME_DIR/hearth`, or `/tmp/hearth-UID`. If that folder cannot be had, watching is
  /// not possible, and the log says why. Nothing is done while no process watches. While one does, telling it takes
  /// about one part in a hundred of the program's processor time, or five milliseconds of each second if that is more;
  /// the watcher is told that it missed the rest. A network or faults that a watcher switched are as before when it is
  /// gone. The socket's name goes when the program exits, and when SIGTERM, SIGINT or SIGHUP ends it by their default
  /// action; a program's own handlers stay.
  public var isInspectable: Bool {
    get { values.isInspectable }
    set { storage.withLock { $0.isInspectable = newValue } }
  }

  /// Names an emulator, which takes the place of host and backend.
  func setEmulator(_ address: String) { storage.withLock { $0.emulator = address } }

  /// The queue on which listeners and completions are called, one after the other. Must be serial.
  public var dispatchQueue: DispatchQueue {
    get { values.dispatchQueue }
    set { storage.withLock { $0.dispatchQueue = newValue } }
  }

  /// The kind and size of the cache: durable or in memory. Not to be combined with the older `isPersistenceEnabled` and
  /// `cacheSizeBytes`: using such settings fails with `invalidArgument`.
  public var cacheSettings: any LocalCacheSettings {
    get { values.reportedCacheSettings }
    set {
      storage.withLock { storage in
        storage.cacheSettings = newValue
        storage.isDurable = nil
      }
    }
  }

  /// The older spelling of a durable (`true`, the default) or a memory cache.
  public var isPersistenceEnabled: Bool {
    get { values.reportedCacheSettings is PersistentCacheSettings }
    set {
      storage.withLock { storage in
        storage.isPersistenceEnabled = newValue
        storage.isDurable = nil
      }
    }
  }

  /// The older spelling of the cache's size.
  public var cacheSizeBytes: Int64 {
    get { values.effectiveCacheSettings.sizeLimit ?? CacheSize.default }
    set { storage.withLock { $0.cacheSizeBytes = newValue } }
  }
}

extension FirestoreSettings {
  /// The same settings with a durable cache; any older spelling of the cache's kind and size is replaced.
  func withPersistence(_ tabManager: PersistentTabManager) -> FirestoreSettings {
    var values = values
    let size = values.effectiveCacheSettings.sizeLimit ?? CacheSize.default
    values.cacheSettings = PersistentCacheSettings(sizeBytes: size, tabManager: tabManager)
    (values.isPersistenceEnabled, values.cacheSizeBytes, values.isDurable) = (nil, nil, nil)
    return FirestoreSettings(values)
  }
}

extension FirestoreSettings: Hashable {
  /// Whether a client opened with either settings would be the same. Wrong settings are equal to none but themselves.
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

  /// The cache settings in force: memory if a durable cache was asked for and there is none.
  var reportedCacheSettings: any LocalCacheSettings {
    let asked = effectiveCacheSettings
    guard isDurable == false, let persistent = asked as? PersistentCacheSettings else { return asked }
    return MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings(sizeBytes: persistent.sizeBytes))
  }

  /// The kind, sharing and size policy of the cache.
  /// - Throws: `invalidArgument` for settings that contradict each other, and for a cache that is too small.
  func cachePlan() throws(FirestoreError) -> CachePlan {
    if cacheSettings != nil, isPersistenceEnabled != nil || cacheSizeBytes != nil {
      throw .invalidArgument(
        "FirestoreSettings has cacheSettings and isPersistenceEnabled or cacheSizeBytes; set only cacheSettings.")
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

  /// Whether a client opened with these settings serves `other` as well.
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

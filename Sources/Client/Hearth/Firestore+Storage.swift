// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
import FirestoreSync
import Foundation
import Glibc

extension Firestore {
  /// The directory of the durable cache for this app's database; `nil` if the cache is in memory.
  ///
  /// Each backend has separate caches, so a write that is queued for an emulator is never sent to Cloud Firestore. If
  /// the app specifies the directory, the cache belongs to the first database that opens it and rejects all others.
  package func cacheDirectory(for backend: ResolvedBackend) -> String? {
    guard var path = app.cacheDirectory else { return nil }
    // Escaped names never begin with "@".
    if hasStandardCache, case .server(let server) = backend { path += "/@" + PathComponent.escaped(server.name) }
    return Self.cacheDirectory(of: database, below: path)
  }

  /// The directory for a database's cache within an app's directory.
  package static func cacheDirectory(of database: DatabaseID, below path: String) -> String {
    "\(path)/\(PathComponent.escaped(database.project))/\(PathComponent.escaped(database.database))"
  }

  /// Whether the cache is in the directory that Hearth chose.
  private var hasStandardCache: Bool { app.cacheDirectory == app.backend.cacheDirectory(ofApp: app.name) }

  func storeConfiguration(
    for backend: ResolvedBackend, _ identity: CacheIdentity?, _ plan: CachePlan
  ) -> LocalStoreConfiguration {
    var isBesideData = false
    if hasStandardCache, case .embedded = backend { isBesideData = true }
    var configuration = LocalStoreConfiguration(
      location: (plan.isDurable ? cacheDirectory(for: backend) : nil).map { .directory($0) } ?? .memory,
      policy: plan.policy, database: database,
      claim: identity.map { CacheClaim($0, replacesOthers: isBesideData) }, isShared: plan.isShared,
      report: { [database] in ClientLog.write($0, database) })
    configuration.peers = app.backend.surroundings.peers
    return configuration
  }

  /// Starts the client with a durable cache. The web SDK had this function before `PersistentCacheSettings`.
  ///
  /// If this function throws because the cache cannot be used, the client has started nevertheless, with a cache in
  /// memory.
  /// - Parameter synchronizeTabs: whether other clients may use the cache at the same time
  ///   (`PersistentTabManager.multiple`).
  /// - Throws: `failedPrecondition` after the first use, or if another client has opened the cache and does not share
  ///   it; `unimplemented` if the directory cannot store a cache; the errors of `persistenceFailure`.
  public func enablePersistence(synchronizeTabs: Bool = false) async throws {
    guard !isOpen else {
      throw FirestoreError.failedPrecondition(
        "Firestore has already been started. Enable persistence before any other call.")
    }
    settings = settings.withPersistence(synchronizeTabs ? .multiple : .single)
    guard app.cacheDirectory != nil else {
      throw FirestoreError(
        .unimplemented, "The app \(app.name) keeps its cache in memory. Set its cacheDirectory.")
    }
    if let failure = try await persistenceFailure { throw failure }
  }

  /// The reason why the durable cache is not in use, or why Hearth had to create a new one. While the durable cache is
  /// not in use, this session's data is in memory. `nil` if the existing durable cache is in use, or if the settings
  /// specify a memory cache.
  ///
  /// - `failedPrecondition`: another client has opened the cache, and at least one of the two clients does not share
  ///   it. Or the cache belongs to another database or to a newer version of Hearth.
  /// - `unimplemented`: the directory cannot store a cache.
  /// - `dataLoss`: the cache was damaged, and Hearth moved it aside.
  /// - `resourceExhausted`: the disk is full, or became full later.
  public var persistenceFailure: FirestoreError? {
    get async throws {
      let engine = try client().engine
      if let problem = engine.cacheProblem {
        return FirestoreError(FirestoreError.Code(problem.error.code), problem.notice)
      }
      var updates = engine.status().makeAsyncIterator()
      return await updates.next()?.storeFailure.map { FirestoreError($0) }
    }
  }
}

/// The default directories.
package enum StandardDirectories {
  /// The user's home directory: the absolute path in `HOME`, or else the path in the system's user database. If both
  /// are missing, the result is `/nonexistent`, where nothing can be created.
  package static func home(_ environment: [String: String]) -> String {
    if let home = environment["HOME"], home.hasPrefix("/") { return home }
    guard let record = getpwuid(getuid()), let directory = record.pointee.pw_dir else { return "/nonexistent" }
    let home = String(cString: directory)
    return home.hasPrefix("/") ? home : "/nonexistent"
  }

  /// The directory `$XDG_DATA_HOME/hearth`. If the variable contains a relative path, it is ignored, as the XDG
  /// specification requires.
  package static func data(_ environment: [String: String]) -> String {
    let set = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (set ?? home(environment) + "/.local/share") + "/hearth"
  }

  /// The data directory, determined by the environment of this process.
  static var data: String { data(ProcessInfo.processInfo.environment) }
}

/// Converts names that users chose to single components of a file path.
package enum PathComponent {
  /// Replaces every byte of the name except letters, digits, `-` and `_` with `%XX`. An empty name becomes `%`. The
  /// result never contains a separator or `..`, and different names have different results.
  package static func escaped(_ name: String) -> String {
    if name.isEmpty { return "%" }
    var text = ""
    for byte in name.utf8 {
      let character = Character(UnicodeScalar(byte))
      let isPlain = byte < 128 && (character.isLetter || character.isNumber || character == "-" || character == "_")
      text += isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return text
  }
}

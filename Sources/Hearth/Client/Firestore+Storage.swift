// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreSync
import Foundation

extension Firestore {
  /// Where the durable cache of this database of the app lies; `nil` if it is in memory.
  ///
  /// A backend has caches of its own: what is queued for an emulator never meets what is queued for Cloud Firestore.
  /// Where the app names the directory itself, the cache says whose it is, and refuses all others.
  package func cacheDirectory(for backend: ResolvedBackend) -> String? {
    guard var path = app.cacheDirectory else { return nil }
    // No escaped name begins so.
    if hasStandardCache, case .server(let server) = backend { path += "/@" + PathComponent.escaped(server.name) }
    return "\(path)/\(PathComponent.escaped(database.project))/\(PathComponent.escaped(database.database))"
  }

  /// Whether the cache lies where Hearth chose.
  private var hasStandardCache: Bool { app.cacheDirectory == app.backend.cacheDirectory(ofApp: app.name) }

  func storeConfiguration(
    for backend: ResolvedBackend, _ identity: CacheIdentity?, _ plan: CachePlan
  ) -> LocalStoreConfiguration {
    var isBesideData = false
    if hasStandardCache, case .embedded = backend { isBesideData = true }
    return LocalStoreConfiguration(
      location: (plan.isDurable ? cacheDirectory(for: backend) : nil).map { .directory($0) } ?? .memory,
      policy: plan.policy, database: database,
      claim: identity.map { CacheClaim($0, replacesOthers: isBesideData) },
      report: { [database] in ClientLog.write($0, database) })
  }

  /// Why the durable cache is not in use and this session's data is kept in memory, or that it is a new one:
  /// `failedPrecondition` if another process holds it or it belongs to another database or a newer version,
  /// `unimplemented` if it cannot be kept at its place, `dataLoss` if it was damaged (and moved aside),
  /// `resourceExhausted` if the disk is full, also if it became so later. `nil` if it is in use, or if memory was
  /// asked for.
  public var persistenceFailure: FirestoreError? {
    get async throws {
      let engine = try client().engine
      if let problem = engine.cacheProblem {
        return FirestoreError(FirestoreErrorCode(problem.error.code), problem.notice)
      }
      var updates = engine.status().makeAsyncIterator()
      return await updates.next()?.storeFailure.map { FirestoreError($0) }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite
import FirestoreTesting
import Foundation
import Testing

/// A cache belongs to one database, and what waits in it is shown to no other.
@Suite("Cache ownership")
struct CacheClaimTests {
  private static let database = DatabaseID(project: "test-project")
  private let place = Place(.durable)
  private let ours = CacheIdentity.embedded([1, 2, 3, 4, 5, 6, 7, 8], database)
  private let others = CacheIdentity.server("Example.com:443", database)

  private func configuration(_ claim: CacheClaim?) -> LocalStoreConfiguration {
    var configuration = place.configuration()
    configuration.claim = claim
    return configuration
  }

  /// Opens the cache for a database, and queues a write if asked.
  private func use(_ identity: CacheIdentity?, queueing path: String? = nil) throws {
    var store = try LocalStore(configuration(identity.map { CacheClaim($0) }))
    if let path { _ = try store.write([set(path, [:])], at: now) }
    store.close()
  }

  /// Why the cache is not opened for a database; `nil` if it is.
  private func refusal(_ claim: CacheClaim) -> StoreError? {
    let store = LocalStore(openingOrFallingBack: configuration(claim))
    let refusal = store.fallback
    store.close()
    return refusal
  }

  private func waitingWrites(_ claim: CacheClaim) throws -> Int {
    let store = LocalStore(openingOrFallingBack: configuration(claim))
    let count = try store.pendingBatches().count
    store.close()
    return count
  }

  @Test("A cache with pending writes reopens for its own database and rejects another")
  func foreign() throws {
    try use(ours, queueing: "cities/SF")

    #expect(refusal(CacheClaim(ours)) == nil)
    for replacesOthers in [false, true] {
      let claim = CacheClaim(others, replacesOthers: replacesOthers)
      let failure = try #require(refusal(claim))
      #expect(failure.kind == .foreign && failure.code == .failedPrecondition)
      for part in [
        place.path, ours.description, others.description, "a write is stored in it", "another cache directory",
      ] {
        #expect(failure.message.contains(part), "\(failure.message)")
      }
      #expect(try waitingWrites(claim) == 0)
    }
    #expect(throws: StoreError.self) { _ = try LocalStore(configuration(CacheClaim(others))) }
    #expect(try waitingWrites(CacheClaim(ours)) == 1)
  }

  /// What a cache is known by to servers, whichever opening of it made a batch.
  private func identity(of store: borrowing LocalStore) -> [UInt8] {
    store.requestID(of: MutationBatch(id: BatchID(1), localWriteTime: now, mutations: [])).clientID
  }

  @Test("Another database may replace a cache that has no pending writes")
  func replaced() throws {
    let old = try LocalStore(configuration(CacheClaim(others)))
    let first = identity(of: old)
    old.close()

    #expect(refusal(CacheClaim(ours))?.kind == .foreign)
    #expect(refusal(CacheClaim(ours, replacesOthers: true)) == nil)
    let new = try LocalStore(configuration(CacheClaim(ours)))
    let second = identity(of: new)
    new.close()
    #expect(first != second)
  }

  @Test("A rejected write protects a cache from replacement, like a pending one")
  func rejected() throws {
    var store = try LocalStore(configuration(CacheClaim(others)))
    let batch = try store.write([set("cities/SF", [:])], at: now).batchID
    let rejection = Rejection(status: RPCStatus(.permissionDenied, "no"), time: now, attempts: 1)
    _ = try store.reject(batch, rejection)
    store.close()

    #expect(refusal(CacheClaim(ours, replacesOthers: true))?.kind == .foreign)
  }

  @Test("An unclaimed cache and its queue belong to the first database that opens it")
  func ownerless() throws {
    try use(nil, queueing: "cities/SF")

    #expect(try waitingWrites(CacheClaim(ours)) == 1)

    #expect(refusal(CacheClaim(others))?.kind == .foreign)
  }

  @Test("A cache that was marked as damaged but is intact keeps its owner")
  func verified() throws {
    try use(ours, queueing: "cities/SF")
    #expect(FileManager.default.createFile(atPath: place.databasePath + ".damaged", contents: nil))
    #expect(refusal(CacheClaim(ours)) == nil)
    #expect(try waitingWrites(CacheClaim(ours)) == 1)
  }

  @Test("Databases and servers are distinguished, ignoring the case of host names")
  func identities() {
    let named = DatabaseID(project: "test-project", database: "default")
    let identities = [
      ours, others, CacheIdentity.embedded([1], Self.database), .embedded([1, 2, 3, 4, 5, 6, 7, 8], named),
      .server("example.com:443", named), .server("example.com:444", Self.database), .memory("a", Self.database),
    ]
    #expect(Set(identities.map(\.description)).count == identities.count)
    #expect(others == .server("example.COM:443", Self.database))
  }
}

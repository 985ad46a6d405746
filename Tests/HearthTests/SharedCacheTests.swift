// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreBackend
import FirestoreTesting
import Foundation
import Hearth
import Testing

/// One cache, several clients: rows B4 and B5 of the web's pages, and what they mean for programs.
@Suite(.timeLimit(.minutes(10)))
struct SharedCacheTests {
  private let folder = TemporaryFolder()
  private let backend = Backend.inMemory(named: UUID().uuidString).patient

  /// A client of its own on the one cache.
  private func client(_ tabManager: PersistentTabManager? = persistentMultipleTabManager()) -> Firestore {
    let app = FirestoreApp(
      name: UUID().uuidString, projectID: "p", backend: backend, cacheDirectory: folder.path + "/cache")
    let db = Firestore.firestore(app: app)
    if let tabManager {
      let settings = db.settings
      settings.cacheSettings = PersistentCacheSettings(tabManager: tabManager)
      db.settings = settings
    }
    return db
  }

  private func snapshots(_ db: Firestore) -> AsyncStream<[String]> {
    AsyncStream { continuation in
      let registration = db.collection("rooms").addSnapshotListener { snapshot, _ in
        if let snapshot { continuation.yield(snapshot.documents.map(\.documentID)) }
      }
      continuation.onTermination = { _ in registration.remove() }
    }
  }

  @Test("Clients that share a cache see each other's writes, and all are acknowledged")
  func shared() async throws {
    let (first, second) = (client(), client())
    #expect(try await first.persistenceFailure == nil)
    #expect(try await second.persistenceFailure == nil)
    let seen = snapshots(second)

    try await first.disableNetwork()
    try await first.document("rooms/a").enqueueData(["n": 1]).local
    try await second.document("rooms/b").enqueueData(["n": 2]).local
    for await rooms in seen where rooms == ["a", "b"] { break }
    try await first.enableNetwork()
    try await first.waitForPendingWrites()
    try await second.waitForPendingWrites()

    #expect(try await first.collection("rooms").getDocuments(source: .cache).count == 2)
    #expect(try await second.collection("rooms").getDocuments(source: .server).count == 2)
    try await first.document("rooms/c").setData(["n": 3])
    for await rooms in snapshots(second) where rooms == ["a", "b", "c"] { break }
    try await first.terminate()
    // The other takes over.
    try await second.document("rooms/d").setData(["n": 4])
    try await second.terminate()
  }

  @Test("A cache is exclusive by default, and mixing modes falls back to memory")
  func single() async throws {
    let alone = client(nil)
    #expect(try await alone.persistenceFailure == nil)
    let sharing = client()
    let failure = try #require(try await sharing.persistenceFailure)
    #expect(failure.code == .failedPrecondition && failure.message.contains("which does not share it"))
    #expect(failure.message.contains("process \(getpid())"), "\(failure.message)")
    try await alone.terminate()
    try await sharing.terminate()

    let holder = client()
    #expect(try await holder.persistenceFailure == nil)
    let refused = client(persistentSingleTabManager())
    let reason = try #require(try await refused.persistenceFailure)
    #expect(reason.code == .failedPrecondition && reason.message.contains("is shared by process \(getpid())"))
    try await refused.document("rooms/a").setData(["n": 1])
    try await holder.terminate()
    try await refused.terminate()
  }

  @Test("enablePersistence reports whether the cache is in use; synchronizeTabs shares it")
  func olderSpelling() async throws {
    let (first, second, third) = (client(nil), client(nil), client(nil))
    try await first.enablePersistence(synchronizeTabs: true)
    try await second.enablePersistence(synchronizeTabs: true)
    let refusal = await #expect(throws: FirestoreError.self) { try await third.enablePersistence() }
    #expect(refusal?.code == .failedPrecondition)
    // It has started all the same, in memory.
    try await third.document("rooms/a").setData(["n": 1])
    #expect(!third.settings.isPersistenceEnabled)
    let late = await #expect(throws: FirestoreError.self) { try await first.enablePersistence() }
    #expect(late?.code == .failedPrecondition && late?.message.contains("already been started") == true)
    for db in [first, second, third] { try await db.terminate() }
  }

  @Test("An app without a cache location fails with unimplemented")
  func nowhere() async throws {
    let app = FirestoreApp(
      name: UUID().uuidString, projectID: "p", backend: .inMemory(named: UUID().uuidString).patient)
    let refusal = await #expect(throws: FirestoreError.self) {
      try await Firestore.firestore(app: app).enablePersistence()
    }
    #expect(refusal?.code == .unimplemented)
  }

  @Test("Clearing a shared cache terminates the clients that share it")
  func cleared() async throws {
    let (first, second) = (client(), client())
    try await first.document("rooms/a").setData(["n": 1])
    #expect(try await second.persistenceFailure == nil)
    try await first.terminate()

    try await first.clearPersistence()

    #expect(!FileManager.default.fileExists(atPath: folder.path + "/cache/p/(default)/cache.sqlite3"))
    let failure = await #expect(throws: FirestoreError.self) {
      try await second.collection("rooms").getDocuments(source: .cache)
    }
    #expect(failure?.code == .failedPrecondition)
    try await second.terminate()
  }
}

// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreTesting
import Foundation
import Hearth
import Testing

/// The page "Access data offline" in its older form, with `isPersistenceEnabled` and `cacheSizeBytes`.
@Suite(.timeLimit(.minutes(10)))
struct OfflinePage2021Tests {
  @Test("Persistence is on by default and can be turned off")
  func persistence() async throws {
    try await DurableDatabase.run { place async throws in
      let settings = FirestoreSettings()
      #expect(settings.isPersistenceEnabled)
      #expect(settings.cacheSizeBytes == 104_857_600)
      settings.isPersistenceEnabled = false
      let without = place.firestore()
      without.settings = settings
      #expect(!without.settings.isPersistenceEnabled)
      try await without.document("cities/SF").setData(["name": "San Francisco"])
      try await without.terminate()
      #expect(place.cacheFiles == [])

      let with = place.firestore()
      #expect(with.settings.cacheSettings is PersistentCacheSettings)
      _ = try await with.document("cities/SF").getDocument()
      try await with.terminate()
      #expect(place.cacheFiles.contains("cache.sqlite3"))
      let next = place.firestore()
      let cached = try await next.document("cities/SF").getDocument(source: .cache)
      #expect(cached.get("name") as? String == "San Francisco")
      try await next.terminate()
    }
  }

  @Test("An unlimited cache size is valid")
  func unlimited() async throws {
    try await TestDatabase.run { test async throws in
      let settings = test.db.settings
      settings.cacheSizeBytes = FirestoreCacheSizeUnlimited
      test.db.settings = settings
      #expect(test.db.settings.cacheSizeBytes == FirestoreCacheSizeUnlimited)
      #expect(try await test.db.collection("cities").getDocuments().isEmpty)
    }
  }

  @Test("Old and new cache settings together are rejected")
  func bothSpellings() async throws {
    try await TestDatabase.run { test async throws in
      let settings = FirestoreSettings()
      settings.isPersistenceEnabled = true
      settings.cacheSettings = PersistentCacheSettings()
      test.db.settings = settings
      await expect(.invalidArgument, "cacheSettings") { try await test.db.collection("cities").getDocuments() }
    }
  }

  @Test("One session's cache and queue are available to the next until cleared")
  func survivesSessions() async throws {
    let folder = TemporaryFolder()
    let app = FirestoreApp(name: UUID().uuidString, backend: .embedded(directory: folder.path).patient)
    let first = Firestore.firestore(app: app)
    try await first.document("cities/SF").setData(["name": "Kept"])
    _ = try await first.document("cities/SF").getDocument()
    try await first.disableNetwork()
    try await first.document("cities/LA").enqueueData(["name": "Queued"]).local
    await expect(.failedPrecondition, "Persistence cannot be cleared while the client is running.") {
      try await first.clearPersistence()
    }
    try await first.terminate()
    await expect(.failedPrecondition, "The client has already been terminated.") {
      try await first.document("cities/SF").getDocument()
    }

    let second = Firestore.firestore(app: app)
    #expect(second !== first)
    try await second.disableNetwork()
    #expect(try await second.document("cities/SF").getDocument().get("name") as? String == "Kept")
    #expect(try await second.document("cities/LA").getDocument().metadata.hasPendingWrites)
    try await second.enableNetwork()
    try await second.waitForPendingWrites()
    #expect(try await second.document("cities/LA").getDocument(source: .server).exists)
    try await second.terminate()

    try await second.clearPersistence()
    let third = Firestore.firestore(app: app)
    try await third.disableNetwork()
    #expect(try await third.collection("cities").getDocuments().isEmpty)
    try await third.terminate()
  }

  @Test("A locked cache fails with failed-precondition; the client uses memory instead")
  func lockedCache() async throws {
    let folder = TemporaryFolder()
    let apps = ["holder", "latecomer"].map {
      FirestoreApp(name: $0 + folder.path, backend: .inMemory.patient, cacheDirectory: folder.path)
    }
    let holder = Firestore.firestore(app: apps[0])
    #expect(try await holder.persistenceFailure == nil)
    let latecomer = Firestore.firestore(app: apps[1])

    let failure = try #require(try await latecomer.persistenceFailure)

    #expect(failure.code == .failedPrecondition)
    try await latecomer.document("cities/SF").setData(["name": "San Francisco"])
    #expect(try await latecomer.document("cities/SF").getDocument().exists)
    try await latecomer.terminate()
    await expect(.failedPrecondition, folder.path) { try await latecomer.clearPersistence() }
    try await holder.terminate()
  }

  @Test("Listeners receive changes to cached data offline")
  func listenOffline() async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      let events = Events<QueryEvent>()
      test.db.collection("cities").whereField("state", isEqualTo: "CA")
        .addSnapshotListener(includeMetadataChanges: true) { querySnapshot, error in
          events.listener(querySnapshot, error)
        }
      #expect(await events.next()?.ids == [])

      try await test.db.document("cities/SF").enqueueData(["state": "CA"]).local

      let snapshot = try #require(await events.first { $0.ids == ["SF"] }?.snapshot)
      let source = snapshot.metadata.isFromCache ? "local cache" : "server"
      #expect(source == "local cache")
      #expect(snapshot.documentChanges.map(\.type) == [.added])
    }
  }
}

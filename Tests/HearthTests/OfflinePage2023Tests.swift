// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth
import Testing

/// The page "Access data offline" with cache settings: each call, option and property of its Swift samples.
@Suite(.timeLimit(.minutes(10)))
struct OfflinePage2023Tests {
  @Test("The documented memory cache settings leave no files")
  func memoryCache() async throws {
    try await DurableDatabase.run { place async throws in
      let db = place.firestore()
      let settings = FirestoreSettings()
      settings.cacheSettings = MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings())
      db.settings = settings
      try await db.document("cities/SF").setData(["name": "San Francisco"])
      try await db.terminate()

      #expect(place.cacheFiles == [])
      let next = place.firestore()
      await expect(.unavailable, "cache") { try await next.document("cities/SF").getDocument(source: .cache) }
      try await next.terminate()
    }
  }

  @Test(
    "The documented persistent cache is on disk and reports its size limit"
  )
  func durableCache() async throws {
    try await DurableDatabase.run { place async throws in
      let db = place.firestore()
      let settings = FirestoreSettings()
      settings.cacheSettings = MemoryCacheSettings()
      settings.cacheSettings = PersistentCacheSettings(sizeBytes: 1_000_000)
      db.settings = settings
      #expect(db.settings.cacheSizeBytes == 1_000_000)
      let filling = String(repeating: "f", count: 100_000)
      for number in 0..<30 { try await db.document("cities/c\(number)").setData(["filling": filling]) }
      _ = try await db.collection("cities").getDocuments()
      #expect(place.cacheFiles.contains("cache.sqlite3"))
      #expect(try await db.document("cities/c0").getDocument(source: .cache).exists)

      // What the cache goes by, not what was asked for.
      let status = try await db.cacheStatus()
      #expect(status.limitBytes == 1_000_000 && status.sizeBytes > 3_000_000)
      try await db.terminate()
    }
  }

  @Test("An invalid cache size makes every call fail until it is corrected", arguments: [0, 999_999, -2])
  func wrongSizes(size: Int64) async throws {
    try await TestDatabase.run { test async throws in
      let settings = FirestoreSettings()
      settings.cacheSettings = PersistentCacheSettings(sizeBytes: size)
      test.db.settings = settings
      let events = Events<FirestoreErrorCode.Code>()

      test.db.document("cities/SF").setData([:], completion: events.completion)

      #expect(await events.next() == .invalidArgument)
      settings.cacheSettings = MemoryCacheSettings(garbageCollectorSettings: MemoryEagerGCSettings())
      test.db.settings = settings
      try await test.db.document("cities/SF").setData([:])
    }
  }

  @Test("Changed settings after first use make calls fail until they are restored")
  func lateSettings() async throws {
    try await TestDatabase.run { test async throws in
      let inForce = test.db.settings
      try await test.db.document("cities/SF").setData([:])

      let late = FirestoreSettings()
      late.cacheSettings = MemoryCacheSettings()
      test.db.settings = late

      await #expect(throws: FirestoreError.self) { try await test.db.document("cities/SF").getDocument() }
      test.db.settings = inForce
      #expect(try await test.db.document("cities/SF").getDocument().exists)
    }
  }

  @Test("With metadata changes a listener sees the result move from cache to server")
  func fromCacheFlips() async throws {
    try await TestDatabase.run { test async throws in
      try await test.other.document("cities/SF").setData(["state": "CA"])
      let california = test.db.collection("cities").whereField("state", isEqualTo: "CA")
      _ = try await california.getDocuments()
      try await test.db.disableNetwork()
      let events = Events<QueryEvent>()

      california.addSnapshotListener(includeMetadataChanges: true) { querySnapshot, error in
        events.listener(querySnapshot, error)
      }

      let cached = try #require(await events.next()?.snapshot)
      #expect(cached.metadata.isFromCache)
      #expect(cached.documentChanges.map(\.type) == [.added])
      try await test.db.enableNetwork()
      let current = try #require(await events.first { $0.isFromCache == false }?.snapshot)
      #expect(current.documentChanges.isEmpty)
      #expect(current.count == 1)
    }
  }

  @Test("Going offline is a metadata change, reported only on request")
  func goingOffline() async throws {
    try await TestDatabase.run { test async throws in
      let plain = Events<QueryEvent>()
      let detailed = Events<QueryEvent>()
      test.db.collection("cities").addSnapshotListener(plain.listener)
      test.db.collection("cities").addSnapshotListener(includeMetadataChanges: true, listener: detailed.listener)
      #expect(await plain.next()?.isFromCache == false)
      #expect(await detailed.first { $0.isFromCache == false } != nil)

      try await test.db.disableNetwork()
      let offline = await detailed.next()
      #expect(offline?.isFromCache == true)
      #expect(offline?.snapshot?.metadata.causes.contains(.networkDisabled) == true)

      test.db.document("cities/SF").setData([:], completion: nil)
      #expect(await plain.next()?.ids == ["SF"])
    }
  }

  @Test("Offline, a cached document is readable, and an unknown one is unavailable")
  func getDocumentOffline() async throws {
    try await TestDatabase.run { test async throws in
      try await test.other.document("cities/SF").setData(["name": "San Francisco"])
      _ = try await test.db.document("cities/SF").getDocument()
      try await test.db.disableNetwork()

      let cached = try await test.db.document("cities/SF").getDocument()
      #expect(cached.get("name") as? String == "San Francisco")
      #expect(cached.metadata.isFromCache)
      await expect(.unavailable, "Failed to get document because the client is offline.") {
        try await test.db.document("cities/LA").getDocument()
      }
      await expect(.unavailable, "Failed to get document from server.") {
        try await test.db.document("cities/SF").getDocument(source: .server)
      }
      await expect(.unavailable, "Failed to get document from cache.") {
        try await test.db.document("cities/LA").getDocument(source: .cache)
      }
    }
  }

  @Test("Offline, a deleted document is missing in the cache and unavailable by default")
  func deletedDocumentOffline() async throws {
    try await TestDatabase.run { test async throws in
      _ = try await test.db.document("cities/SF").getDocument()
      try await test.db.disableNetwork()

      #expect(try await test.db.document("cities/SF").getDocument(source: .cache).exists == false)
      await expect(.unavailable, "because the client is offline") {
        try await test.db.document("cities/SF").getDocument()
      }
    }
  }

  @Test("Offline, a query returns cached documents or none, and fails for source server")
  func getDocumentsOffline() async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      let cities = test.db.collection("cities")

      let nothing = try await cities.getDocuments()
      #expect(nothing.isEmpty && nothing.metadata.isFromCache)
      try await cities.document("SF").enqueueData(["state": "CA"]).local
      let new = try await cities.whereField("state", isEqualTo: "CA").getDocuments()
      #expect(new.documents.map(\.documentID) == ["SF"])
      #expect(try await cities.getDocuments(source: .cache).count == 1)
      await expect(.unavailable, "Failed to get documents from server.") {
        try await cities.getDocuments(source: .server)
      }
      await expect(.unavailable, "Not connected: the network is disabled.") {
        try await cities.getDocuments(source: .server)
      }
    }
  }

  @Test("disableNetwork and enableNetwork succeed, and queued writes are sent afterwards")
  func networkToggle() async throws {
    try await TestDatabase.run { test async throws in
      let completions = Events<FirestoreErrorCode.Code>()
      let acknowledged = Events<FirestoreErrorCode.Code>()
      test.db.disableNetwork { (error) in completions.completion(error) }
      #expect(await completions.next() == .OK)
      test.db.document("cities/SF").setData(["name": "Queued"], completion: acknowledged.completion)
      #expect(try await test.other.document("cities/SF").getDocument(source: .server).exists == false)

      test.db.enableNetwork { (error) in completions.completion(error) }

      #expect(await completions.next() == .OK)
      #expect(await acknowledged.next() == .OK)
      let sent = try await test.other.document("cities/SF").getDocument(source: .server)
      #expect(sent.get("name") as? String == "Queued")
    }
  }

  @Test("The documented index configuration is not valid JSON, and the error says where")
  func indexConfigurationOfThePage() async throws {
    try await TestDatabase.run { test async throws in
      let indexConfigJson = """
          {
            indexes: [
                ...
            ],
            fieldOverrides: [
                ...
            ]
          }
        """
      let completions = Events<(any Error)?>()
      test.db.setIndexConfiguration(indexConfigJson) { completions.send($0) }

      let error = try #require(await completions.next() as? FirestoreError)
      #expect(error.code == .invalidArgument)
      #expect(error.message.contains("line 2, column"))
    }
  }

  @Test("Server-format index definitions are accepted; errors give the position")
  func indexConfiguration() async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.setIndexConfiguration(
        """
        {"indexes": [{"collectionGroup": "cities", "queryScope": "COLLECTION", "fields": [
            {"fieldPath": "state", "order": "ASCENDING"}, {"fieldPath": "tags", "arrayConfig": "CONTAINS"}]}],
         "fieldOverrides": [{"collectionGroup": "cities", "fieldPath": "area", "indexes": []}]}
        """)
      await expect(.invalidArgument, "indexes[0].fields[0].order") {
        try await test.db.setIndexConfiguration(
          #"{"indexes": [{"collectionGroup": "a", "fields": [{"fieldPath": "b", "order": "UP"}]}]}"#)
      }
    }
  }
}

/// Expects an error of Firestore with this code and text.
func expect<Value>(
  _ code: FirestoreErrorCode.Code, _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
  _ operation: () async throws -> Value
) async {
  do {
    _ = try await operation()
    Issue.record("No error was thrown.", sourceLocation: sourceLocation)
  } catch let error as FirestoreError {
    #expect(error.code == code, sourceLocation: sourceLocation)
    #expect(error.message.contains(text), sourceLocation: sourceLocation)
  } catch {
    Issue.record("Another error was thrown: \(error)", sourceLocation: sourceLocation)
  }
}

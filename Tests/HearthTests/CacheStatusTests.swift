// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

/// The size of the cache, and its collection on demand.
@Suite(.timeLimit(.minutes(10)))
struct CacheStatusTests {
  @Test("The cache status counts cached documents and reports the size limit")
  func status() async throws {
    try await TestDatabase.run { test async throws in
      let settings = FirestoreSettings()
      settings.cacheSettings = MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings(sizeBytes: 1_000_000))
      test.db.settings = settings
      try await test.other.document("cities/SF").setData(["name": "San Francisco"])
      _ = try await test.db.collection("cities").getDocuments()
      try await test.db.disableNetwork()
      try await test.db.document("cities/LA").enqueueData(["name": "Los Angeles"]).local

      let status = try await test.db.cacheStatus()

      #expect(status.documentCount == 1)
      #expect(status.queryCount == 1)
      #expect(status.pendingWriteCount == 1)
      #expect(status.limitBytes == 1_000_000)
      #expect(status.sizeBytes > 0 && status.sizeBytes < 1_000_000)
    }
  }

  @Test("A dry run lists the evictions, and a cache below its limit keeps everything")
  func dryRun() async throws {
    try await TestDatabase.run { test async throws in
      for number in 0..<12 {
        try await test.other.document("c\(number)/d").setData(["n": number])
        _ = try await test.db.collection("c\(number)").getDocuments()
      }
      try await test.db.disableNetwork()

      let dry = try #require(try await test.db.collectGarbage(dryRun: true))
      let wet = try await test.db.collectGarbage()

      #expect(dry.isDryRun)
      #expect(dry.queries.map(\.path) == ["c0"])
      #expect(dry.queries.map(\.documentCount) == [1])
      #expect(dry.documentCount == 1)
      #expect(dry.byteCount > 0)
      #expect(wet == nil)
      #expect(try await test.db.cacheStatus().documentCount == 12)
    }
  }

  @Test("An unlimited cache reports no limit and is never collected")
  func unlimited() async throws {
    try await TestDatabase.run { test async throws in
      let settings = FirestoreSettings()
      settings.cacheSettings = PersistentCacheSettings(sizeBytes: FirestoreCacheSizeUnlimited)
      test.db.settings = settings

      #expect(try await test.db.cacheStatus().limitBytes == nil)
      #expect(try await test.db.collectGarbage() == nil)
    }
  }

  @Test("A terminated client has no cache status")
  func terminated() async throws {
    let db = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: .inMemory.patient))
    try await db.terminate()

    await expect(.failedPrecondition, "terminated") { try await db.cacheStatus() }
    await expect(.failedPrecondition, "terminated") { try await db.collectGarbage(dryRun: true) }
  }
}

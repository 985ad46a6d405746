// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Working offline' runs")
  func offline() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in Offline.md:
      try await db.disableNetwork()
      let write = try db.document("cities/LA").enqueueData(["name": "Los Angeles", "state": "CA"])
      try await write.local
      let cities = try await db.collection("cities").getDocuments()
      print(cities.count, cities.metadata.isFromCache)
      print(try await db.pendingWrites.current.map(\.paths))
      try await db.enableNetwork()
      try await write.acknowledged
      // Until here.
      #expect(cities.count == 1 && cities.metadata.isFromCache)
      // Shown in Offline.md:
      let connection = try await db.onlineState.current
      if connection.phase != .online, let reason = connection.reason { print("Not online: \(reason)") }
      for await connection in db.onlineState {
        print(connection.phase, connection.nextRetry.map { "next attempt at \($0.dateValue())" } ?? "")
        if connection.phase != .offline { break }
      }
      // Until here.
    }
  }

  @Test("The code about the cache in the article 'Working offline' runs")
  func offlineCache() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in Offline.md:
      let settings = db.settings
      settings.cacheSettings = PersistentCacheSettings(sizeBytes: 500 * 1024 * 1024)
      db.settings = settings  // before the first use
      // Until here.
      #expect(db.settings.cacheSizeBytes == 524_288_000)
      // Shown in Offline.md:
      if let failure = try await db.persistenceFailure {
        print("What waits in this session ends with it: \(failure.message)")
      }
      // Until here.
      #expect(try await db.persistenceFailure == nil)
    }
  }
}

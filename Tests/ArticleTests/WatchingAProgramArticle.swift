// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Watching a program' runs")
  func watchingAProgram() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in WatchingAProgram.md:
      let settings = FirestoreSettings()
      settings.isInspectable = true
      db.settings = settings  // before the first use
      // Until here.
      #expect(db.settings.isInspectable)
      try await db.document("cities/SF").setData(["name": "SF"])
      // Shown in WatchingAProgram.md:
      for try await cities in db.collection("cities").snapshots(includeMetadataChanges: true) {
        print(cities.count, cities.metadata.causes)
        if !cities.metadata.isFromCache { break }
      }
      // Until here.
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Coming from Apple's SDK' runs")
  func comingFromApple() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in ComingFromApple.md:
      FirebaseApp.configure()
      let settings = FirestoreSettings()
      settings.cacheSettings = PersistentCacheSettings(sizeBytes: 100 * 1024 * 1024 as NSNumber)
      db.settings = settings

      do {
        try await db.collection("cities").document("LA").setData(["name": "Los Angeles", "state": "CA"])
        let document = try await db.collection("cities").document("LA").getDocument()
        if document.exists { print(document.data().map(String.init(describing:)) ?? "nil") }
        try await db.collection("cities").document("none").updateData(["capital": true])
      } catch FirestoreErrorCode.notFound {
        print("no such city")
      } catch let error as NSError where error.domain == FirestoreErrorDomain {
        print(error.code, error.localizedDescription)
      }
      // Until here.
      #expect(try await db.document("cities/LA").getDocument().exists)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Indexes and explain' runs")
  func indexesAndExplain() async throws {
    try await ArticleDatabase.run { db async throws in
      let batch = db.batch()
      for number in 0..<300 {
        let city = db.document("cities/c\(number)")
        batch.setData(["state": "s\(number % 50)", "population": number], forDocument: city)
      }
      try await batch.enqueue().local
      // Shown in IndexesAndExplain.md:
      let query = db.collection("cities").whereField("state", isEqualTo: "s7").order(by: "population")
      let scan = try await query.explain()
      print(scan)
      print(scan.plan, scan.documentsScanned, scan.suggestedIndexes)
      // Until here.
      #expect(scan.plan == .scan && scan.documentsReturned == 6)
      // Shown in IndexesAndExplain.md:
      try await db.setIndexConfiguration([
        IndexDefinition(
          collectionGroup: "cities",
          fields: [IndexField(fieldPath: "state"), IndexField(fieldPath: "population")])
      ])
      for await indexes in db.localIndexUpdates where indexes.allSatisfy(\.isReady) { break }
      print(try await query.explain().plan)
      // Until here.
      #expect(try await query.explain().documentsReturned == 6)
      // Shown in IndexesAndExplain.md:
      try await db.setIndexConfiguration(
        """
        {"indexes": [{"collectionGroup": "cities", "queryScope": "COLLECTION", "fields": [
          {"fieldPath": "state", "order": "ASCENDING"}, {"fieldPath": "population", "order": "DESCENDING"}]}]}
        """)
      // Until here.
      #expect(try await db.localIndexes().map(\.definition.description).first?.contains("descending") == true)
      // Shown in IndexesAndExplain.md:
      db.persistentCacheIndexManager?.enableIndexAutoCreation()
      // Until here.
    }
  }
}

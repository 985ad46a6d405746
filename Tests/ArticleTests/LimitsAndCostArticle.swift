// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Limits and cost' runs")
  func limitsAndCost() async throws {
    try await ArticleDatabase.run { db async throws in
      // Shown in LimitsAndCost.md:
      let long = try db.document("texts/1").enqueueData(["text": String(repeating: "x", count: 1_100_000)])
      do {
        try await long.acknowledged
      } catch let error as FirestoreError where error.code == .invalidArgument {
        print(error.message)
      }
      // Until here.
      #expect(try await db.rejectedWrites.current.map(\.error.code) == [.invalidArgument])
      try await db.document("cities/SF").setData(["name": "SF"])
      // Shown in LimitsAndCost.md:
      let cities = db.collection("cities")
      var result = try await cities.getDocuments(source: .cache)
      if result.isEmpty { result = try await cities.getDocuments(source: .server) }
      print(result.count, try await cities.count.getAggregation(source: .cache).count)
      // Until here.
      #expect(result.count == 1)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Queries and pages' runs")
  func queriesAndPages() async throws {
    try await ArticleDatabase.run { db async throws in
      for (id, state, population, tags) in [
        ("SF", "CA", 873_965, ["coast"]), ("LA", "CA", 3_898_747, []), ("SEA", "WA", 737_015, ["coast"]),
        ("DEN", "CO", 715_522, []), ("SAC", "CA", 524_943, []),
      ] as [(String, String, Int, [String])] {
        try await db.document("cities/\(id)").setData(["state": state, "population": population, "tags": tags])
      }
      try await db.document("cities/SF/landmarks/a").setData(["kind": "museum"])
      // Shown in QueriesAndPages.md:
      let cities = db.collection("cities")
      let large = cities.whereFilter(
        .andFilter([
          .whereField("population", isGreaterThan: 500_000),
          .orFilter([.whereField("state", isEqualTo: "CA"), .whereField("tags", arrayContains: "coast")]),
        ])
      ).order(by: "population", descending: true).limit(to: 10)
      print(try await large.getDocuments().documents.map(\.documentID))
      // Until here.
      #expect(try await large.getDocuments().documents.map(\.documentID) == ["LA", "SF", "SEA", "SAC"])
      // Shown in QueriesAndPages.md:
      let museums = db.collectionGroup("landmarks").whereField("kind", isEqualTo: "museum")
      print(try await museums.getDocuments().documents.map(\.reference.path))
      // Until here.
      #expect(try await museums.getDocuments().count == 1)
      // Shown in QueriesAndPages.md:
      let byState = cities.order(by: "state").limit(to: 2)
      var page = try await byState.getDocuments()
      while let last = page.documents.last {
        print(page.documents.map(\.documentID))
        page = try await byState.start(afterDocument: last).getDocuments()
      }
      // Until here.
      #expect(page.isEmpty)
      // Shown in QueriesAndPages.md:
      let figures = try await cities.aggregate([.count(), .sum("population"), .average("population")])
        .getAggregation(source: .server)
      print(figures.count, figures.get(.sum("population")) ?? 0)
      // Until here.
      #expect(figures.count == 5 && figures.get(.sum("population")) as? Int == 6_750_192)
      let pages = try await byState.start(at: ["CO"]).getDocuments()
      #expect(pages.documents.map(\.documentID) == ["DEN", "SEA"])
    }
  }
}

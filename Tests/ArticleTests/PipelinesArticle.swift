// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

extension ArticleTests {
  @Test("The code in the article 'Pipelines' runs")
  func pipelines() async throws {
    try await ArticleDatabase.run { db async throws in
      let books = db.collection("books")
      let batch = db.batch()
      batch.setData(
        ["title": "Dune", "year": 1965, "tags": ["desert"], "embedding": FieldValue.vector([0.0, 1.0])],
        forDocument: books.document("dune"))
      batch.setData(
        ["title": "Emma", "year": 1815, "tags": ["love", "england"], "embedding": FieldValue.vector([1.0, 0.0])],
        forDocument: books.document("emma"))
      try await batch.commit()
      // Shown in Pipelines.md:
      let old = try await db.pipeline().collection("books")
        .where(Field("year").lessThan(1900))
        .sort([Field("year").ascending()])
        .select(["title", Field("tags").arrayLength().as("tags")])
        .limit(10)
        .execute()
      for book in old.results { print(book.get("title") ?? "", book.data) }
      // Until here.
      #expect(old.results.map { $0.data as NSDictionary } == [["title": "Emma", "tags": 2]])
      // Shown in Pipelines.md:
      let tags = try await db.pipeline().collection("books")
        .unnest(Field("tags").as("tag"))
        .aggregate([CountAll().as("books"), Field("year").minimum().as("since")], groups: ["tag"])
        .sort([Field("books").descending()])
        .execute()
      // Until here.
      #expect(tags.results.count == 3)
      // Shown in Pipelines.md:
      let near = try await db.pipeline().collection("books")
        .findNearest(
          field: Field("embedding"), vectorValue: FieldValue.vector([0.1, 0.9]), distanceMeasure: .cosine, limit: 3,
          distanceField: "distance"
        )
        .execute()
      print(near.results.map { $0.get("distance") ?? "" })
      // Until here.
      #expect(near.results.map(\.id) == ["dune", "emma"])
      // Shown in Pipelines.md:
      let written = try await db.pipeline().collection("books")
        .where(Field("year").lessThan(1900))
        .rawStage(name: "update", params: [["shelf": "old"]])
        .execute()
      print(written.results.first?.get("documents_modified") ?? 0)
      // Until here.
      #expect(try await books.document("emma").getDocument(source: .server).get("shelf") as? String == "old")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth
import Testing

/// Pipelines on the embedded backend.
@Suite(.timeLimit(.minutes(10)))
struct PipelineTests {
  private static func books(_ db: Firestore) async throws -> CollectionReference {
    let books = db.collection("books")
    let batch = db.batch()
    batch.setData(
      ["title": "Dune", "year": 1965, "tags": ["desert", "sand"], "at": FieldValue.vector([1.0, 0.0])],
      forDocument: books.document("b1"))
    batch.setData(
      ["title": "Emma", "year": 1815, "tags": ["love"], "at": FieldValue.vector([0.0, 1.0])],
      forDocument: books.document("b2"))
    batch.setData(["title": "Persuasion", "year": 1817, "tags": ["love"]], forDocument: books.document("b3"))
    try await batch.commit()
    return books
  }

  @Test("A pipeline filters, sorts, changes and limits documents")
  func documents() async throws {
    try await TestDatabase.run { test async throws in
      let books = try await Self.books(test.db)
      let snapshot = try await test.db.pipeline().collection(books)
        .where(Field("year").lessThan(1900) && !Field("title").startsWith("P") || Field("year").equal(1965))
        .addFields([Field("year").add(100).as("later"), Constant(true).as("seen.here")])
        .sort([Field("year").descending()])
        .execute()
      #expect(snapshot.results.map(\.id) == ["b1", "b2"])
      #expect(snapshot.results[0].ref == books.document("b1") && snapshot.results[0].updateTime != nil)
      #expect(snapshot.results[1].get("later") as? Int == 1915)
      #expect(snapshot.results[1].get("seen.here") as? Bool == true)
      #expect(snapshot.executionTime.seconds > 0)
      let second = try await test.db.pipeline().documents(["books/b3", "books/b1", "books/none"])
        .select(["title", Field("tags").arrayLength().as("tags")]).sort([Field("title").ascending()])
        .offset(1).limit(1).execute()
      #expect(second.results.count == 1 && second.results[0].ref == nil)
      #expect(second.results[0].data as NSDictionary == ["title": "Persuasion", "tags": 1])
    }
  }

  @Test("Pipelines aggregate, group, unnest, unite and find nearest vectors")
  func shapes() async throws {
    try await TestDatabase.run { test async throws in
      _ = try await Self.books(test.db)
      let books = test.db.pipeline().collection("books")
      let figures = try await books.aggregate([
        CountAll().as("n"), Field("year").average().as("mean"), Field("year").lessThan(1900).countIf().as("old"),
      ]).execute()
      #expect(figures.results.map { $0.data as NSDictionary } == [["n": 3, "mean": 5597.0 / 3, "old": 2]])
      let tags = try await books.unnest(Field("tags").as("tag"), indexField: "i").where(Field("i").equal(0))
        .aggregate([CountAll().as("n")], groups: ["tag"]).execute()
      #expect(tags.results.map { $0.data as NSDictionary } == [["tag": "desert", "n": 1], ["tag": "love", "n": 2]])
      let letters = try await books.distinct([
        FunctionExpression(functionName: "substring", args: [Field("title"), 0, 1]).as("first")
      ]).execute()
      #expect(letters.results.map { $0.get("first") as? String } == ["D", "E", "P"])
      let twice = try await books.limit(1).union(with: test.db.pipeline().collectionGroup("books")).execute()
      #expect(twice.results.map(\.id) == ["b1", "b1", "b2", "b3"])
      let nearest = try await books.findNearest(
        field: Field("at"), vectorValue: FieldValue.vector([0.0, 2.0]), distanceMeasure: .euclidean, limit: 1,
        distanceField: "far"
      ).execute()
      #expect(nearest.results.map(\.id) == ["b2"] && nearest.results[0].get("far") as? Double == 1)
      let literals = try await test.db.pipeline().literals([["a": 1, "b": Constant(2).multiply(3)]])
        .replace(with: FunctionExpression(functionName: "map", args: ["c", Field("b")])).execute()
      #expect(literals.results.map { $0.data as NSDictionary } == [["c": 6]])
      #expect(try await books.sample(count: 2).execute().results.count == 2)
      let raw = try await books.rawStage(name: "limit", params: [1]).removeFields(["tags", "at"]).execute()
      #expect(raw.results.map { $0.data as NSDictionary } == [["title": "Dune", "year": 1965]])
    }
  }

  @Test("Pipelines ignore pending writes and are unavailable offline")
  func offline() async throws {
    try await TestDatabase.run { test async throws in
      let books = try await Self.books(test.db)
      try await test.db.disableNetwork()
      let batch = test.db.batch()
      batch.setData(["title": "Ulysses"], forDocument: books.document("b4"))
      try await batch.enqueue().local
      let status = await #expect(throws: FirestoreError.self) {
        try await test.db.pipeline().collection("books").execute()
      }
      #expect(status?.code == .unavailable)
      try await test.db.enableNetwork()
      try await test.db.waitForPendingWrites()
      #expect(try await test.db.pipeline().collection("books").execute().results.count == 4)
    }
  }

  @Test("An invalid stage fails the pipeline's execution")
  func mistakes() async throws {
    try await TestDatabase.run { test async throws in
      let books = test.db.pipeline().collection("books")
      for wrong in [
        test.db.pipeline().collection("books/b1"), books.where(Field("").exists()), books.select(["a..b"]),
        books.where(Field("a").equal(URLError(.badURL))), books.limit(-1), books.rawStage(name: "lmit", params: []),
        books.where(BooleanExpression(functionName: "eqaul", args: [])), books.union(with: books.removeFields([""])),
      ] {
        let status = await #expect(throws: FirestoreError.self) { try await wrong.execute() }
        #expect(status?.code == .invalidArgument)
      }
    }
  }
}

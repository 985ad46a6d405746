// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestorePipelines
import FirestoreProtocol
import FirestoreTesting
import Testing

@Suite("Pipeline stages")
struct StageTests {
  private static let all = stage("collection", .path("/books"))
  private static let titles = stage("select", named([("title", field("title"))]))

  private func titles(_ stages: PipelineMessage.Stage...) async throws(RPCStatus) -> [Value?] {
    try await results([Self.all] + stages).map { $0.data[FieldPath("title")] }
  }

  @Test("Documents have their names and times until a projection")
  func names() async throws {
    let whole = try await results([Self.all])
    #expect(whole.map(\.key?.path.text) == ["books/b1", "books/b2", "books/b3", "books/b4", "books/b5"])
    #expect(whole[0].updateTime == version(1_000_000))
    #expect(try await results([Self.all, Self.titles]).allSatisfy { $0.key == nil })
    let found = try await results([Self.all, stage("select", named([("__name__", field("__name__"))]))])
    #expect(found[1].key == key("books/b2"))
  }

  @Test("Each input stage returns its documents")
  func inputs() async throws {
    #expect(try await fields(stage("collection_group", .path(""), "reviews")).count == 3)
    #expect(try await fields(stage("database")).count == 8)
    let found = try await results([stage("documents", .path("/books/b4"), .path("/books/none"))])
    #expect(found.map(\.key) == [key("books/b4")])
    let literals = try await fields(
      stage("literals", .constant(["a": 1]), named([("b", call("add", 1, 1))])))
    #expect(literals == [["a": 1], ["b": 2]])
  }

  @Test("Absent values sort first, ties sort by name, and offset comes before limit")
  func sorting() async throws {
    let order = stage("sort", order("year"))
    #expect(try await titles(order) == ["Beowulf", "Emma", "Persuasion", "Ulysses", "Dune"])
    #expect(try await titles(order, stage("offset", 1), stage("limit", 2)) == ["Emma", "Persuasion"])
    #expect(try await titles(order, stage("limit", 0)) == [])
    let rating = stage(
      "sort", FirestorePipelinesTests.order("rating", "descending"), FirestorePipelinesTests.order("title"))
    #expect(try await titles(rating) == ["Dune", "Emma", "Persuasion", "Ulysses", "Beowulf"])
  }

  @Test("A sort with a limit returns a prefix of the full sort")
  func sortedPrefix() async throws {
    let documents = ListedDocuments(
      (0..<400).map { ("c/d\($0)", ["n": .integer(Int64($0 * 7_919 % 400 / 4))]) })
    let sort: [PipelineMessage.Stage] = [stage("collection", .path("c")), stage("sort", order("n", "descending"))]
    let whole = try await results(sort, of: documents).map(\.key)
    let part = try await results(sort + [stage("offset", 5), stage("limit", 17)], of: documents).map(\.key)
    #expect(part == Array(whole[5..<22]))
  }

  @Test("Pipeline stages add, remove and replace fields")
  func reshaping() async throws {
    let one = [stage("documents", .path("books/b1"))]
    let added = try await results(
      one + [
        stage("add_fields", named([("a.b", field("year")), ("title", call("to_upper", field("title")))])),
        stage("remove_fields", field("tags"), field("rating"), field("none")),
      ])
    #expect(added[0].data.fields == ["a": ["b": 1965], "title": "DUNE", "year": 1965])
    #expect(added[0].key == key("books/b1"))
    let map = call("map", "only", field("year"))
    #expect(try await results(one + [stage("replace_with", map, "full_replace")])[0].data.fields == ["only": 1965])
  }

  @Test("Aggregates are computed over all rows and per group")
  func aggregation() async throws {
    let figures = try await fields(
      Self.all,
      stage(
        "aggregate",
        named([
          ("all", call("count")), ("years", call("count", field("year"))), ("sum", call("sum", field("year"))),
          ("average", call("average", field("rating"))), ("last", call("maximum", field("year"))),
          ("old", call("count_if", call("less_than", field("year"), 1900))),
          ("ratings", call("count_distinct", field("rating"))), ("first", call("first", field("title"))),
          ("seen", call("array_agg_distinct", field("rating"))),
        ])))
    #expect(
      figures == [
        [
          "all": 5, "years": 4, "sum": 7519, "average": 4.0, "last": 1965, "old": 2, "ratings": 3, "first": "Dune",
          "seen": [4.5, 4.0, 3.5, .null],
        ]
      ])
    let groups = try await fields(
      Self.all,
      stage("aggregate", named([("n", call("count"))]), named([("rating", field("rating"))])))
    #expect(
      groups == [
        ["rating": 4.5, "n": 1], ["rating": 4.0, "n": 2], ["rating": 3.5, "n": 1], ["rating": .null, "n": 1],
      ])
    let none = try await fields(
      stage("collection", .path("none")),
      stage(
        "aggregate", named([("n", call("count")), ("s", call("sum", field("x"))), ("m", call("minimum", field("x")))])))
    #expect(none == [["n": 0, "s": .null, "m": .null]])
  }

  @Test("distinct and aggregate put absent values and null into one group")
  func absentGroups() async throws {
    let documents = ListedDocuments([("c/a", ["x": 1]), ("c/b", [:]), ("c/d", ["x": .null]), ("c/e", ["y": 1])])
    let named = named([("x", field("x"))])
    func rows(_ last: PipelineMessage.Stage) async throws -> [Fields] {
      try await results([stage("collection", .path("c")), last], of: documents).map(\.data.fields)
    }

    #expect(try await rows(stage("distinct", named)) == [["x": 1], ["x": .null]])
    let counts = try await rows(stage("aggregate", .named([("n", call("count"))]), named))
    #expect(counts == [["x": 1, "n": 1], ["x": .null, "n": 3]])
  }

  @Test("distinct, union, unnest and sample return the expected rows")
  func combining() async throws {
    let ratings = try await fields(Self.all, stage("distinct", named([("rating", field("rating"))])))
    #expect(ratings == [["rating": 4.5], ["rating": 4.0], ["rating": 3.5], ["rating": .null]])
    let other = PipelineMessage([stage("documents", .path("books/b2")), Self.titles])
    let united = try await fields(Self.all, stage("limit", 1), Self.titles, stage("union", .pipeline(other)))
    #expect(united == [["title": "Dune"], ["title": "Emma"]])
    let unnest = PipelineMessage.Stage("unnest", [field("tags"), field("tag")], options: ["index_field": field("i")])
    let tags = try await fields(
      Self.all, unnest, stage("select", named([("t", field("tag")), ("i", field("i"))])))
    #expect(
      tags == [
        ["t": "desert", "i": 0], ["t": "politics", "i": 1], ["t": "love", "i": 0], ["t": "love", "i": 0],
        ["t": "sea", "i": 1], ["i": .null],
      ])
    #expect(try await fields(Self.all, stage("sample", 3, "documents")).count == 3)
    #expect(try await fields(Self.all, stage("sample", 9, "documents")).count == 5)
    #expect(try await fields(Self.all, stage("sample", 0.0, "percent")).isEmpty)
    #expect(try await fields(Self.all, stage("sample", 1.0, "percent")).count == 5)
  }

  @Test("The nearest vectors are returned first, with their distances")
  func nearest() async throws {
    let points = ListedDocuments([
      ("v/a", ["at": .vector([0, 0])]), ("v/b", ["at": .vector([3, 4])]), ("v/c", ["at": .vector([1])]),
      ("v/d", ["x": 1]),
    ])
    let search = PipelineMessage.Stage(
      "find_nearest", [field("at"), .constant(.vector([3, 3])), "euclidean"],
      options: ["limit": 2, "distance_field": field("far")])
    let found = try await results([stage("collection", .path("v")), search], of: points)
    #expect(found.map(\.key?.documentID) == ["b", "a"])
    #expect(found[0].data[FieldPath("far")] == 1.0)
  }

  @Test("Variables and subqueries are evaluated inside expressions")
  func subqueries() async throws {
    let reviews = PipelineMessage([
      stage("subcollection", "reviews"), stage("sort", order("stars")),
      stage("select", named([("who", call("string_concat", .variable("t"), ":", field("author")))])),
    ])
    let stars = PipelineMessage([
      stage("subcollection", "reviews"), stage("aggregate", named([("n", call("average", field("stars")))])),
    ])
    let found = try await fields(
      stage("documents", .path("books/b1"), .path("books/b3")), stage("let", named([("t", field("title"))])),
      stage(
        "select",
        named([("by", call("array", .pipeline(reviews))), ("stars", call("scalar", .pipeline(stars)))])))
    #expect(found == [["by": ["Dune:Bob", "Dune:Ann"], "stars": 4.0], ["by": [], "stars": .null]])
    let several = call("scalar", .pipeline(PipelineMessage([Self.all])))
    await #expect(throws: RPCStatus.self) {
      try await fields(stage("literals", named([("x", several)])))
    }
  }

  @Test("Text search matches whole words in any case, scores them and excludes words")
  func search() async throws {
    let documents = ListedDocuments([
      ("r/a", ["text": "Tacos, tacos!", "more": ["Fried TACOS"]]), ("r/b", ["text": "One tacos bar"]),
      ("r/c", ["text": "Taco"]),
    ])
    func found(_ query: ExpressionMessage) async throws -> [String?] {
      let search = PipelineMessage.Stage("search", options: ["query": query])
      return try await results([stage("collection", .path("r")), search], of: documents).map(\.key?.documentID)
    }
    #expect(try await found("tacos") == ["a", "b"])
    #expect(try await found(call("document_matches", "tacos -bar")) == ["a"])
    #expect(try await found(call("document_matches", "\"tacos bar\"")) == ["b"])
    #expect(try await found(call("document_matches", "")) == [])
  }

  @Test("A writing pipeline returns its writes")
  func writes() async throws {
    let message = PipelineMessage([
      Self.all, stage("where", call("less_than", field("year"), 1816)), stage("remove_fields", field("tags")),
      stage("update", named([("status", "old")])),
    ])
    let pipeline = try Pipeline(message, in: database)
    let mutations = try await PipelineRun(books, context()).mutations(of: pipeline, try #require(pipeline.write))
    let fields: Fields = ["title": "Emma", "year": 1815, "rating": 4.0, "status": "old"]
    #expect(mutations == [set("books/b2", fields, .exists(true))])
    let nameless = try Pipeline(PipelineMessage([Self.all, Self.titles, stage("delete")]), in: database)
    await #expect(throws: RPCStatus.self) {
      try await PipelineRun(books, context()).mutations(of: nameless, .delete)
    }
  }

  @Test("Slices stay small when stages enlarge or multiply the documents")
  func growth() async throws {
    let documents = ListedDocuments(
      (0..<6).map { ("c/d\($0)", ["t": .string(String(repeating: "x", count: 300_000))]) })
    func slices(_ stages: PipelineMessage.Stage...) async throws -> [Int] {
      let pipeline = try Pipeline(PipelineMessage([stage("collection", .path("c"))] + stages), in: database)
      var (results, sizes) = (try await PipelineRun(documents, context()).results(of: pipeline), [Int]())
      while let slice = try await results.next() { sizes.append(slice.count) }
      return sizes
    }

    let grown = try await slices(stage("select", named([("t", call("string_repeat", field("t"), 2))])))
    #expect(grown == [1, 1, 1, 1, 1, 1])
    let letters = stage("let", named([("l", call("split", call("substring", field("t"), 0, 700), ""))]))
    let sizes = try await slices(letters, stage("unnest", .variable("l"), field("e")))
    #expect(sizes.reduce(0, +) == 4_200 && sizes.allSatisfy { $0 <= 500 })
    let long = call("string_repeat", field("t"), 30)
    await #expect(throws: RPCStatus.self) { try await slices(stage("select", named([("a", long), ("b", long)]))) }
    await #expect(throws: RPCStatus.self) { try await slices(stage("let", named([("a", long), ("b", long)]))) }
  }

  @Test(
    "Stages that buffer all documents stop at their memory limit",
    arguments: ["sort", "distinct", "aggregate", "sample"])
  func memory(_ name: String) async throws {
    let documents = ListedDocuments(
      (0..<4).map {
        ("c/d\($0)", ["t": .string(String(repeating: "\($0)", count: 100_000)), "n": .integer(Int64($0))])
      })
    let last =
      switch name {
      case "sort": stage("sort", order("n"))
      case "distinct": stage("distinct", named([("t", field("t"))]))
      case "sample": stage("sample", 4, "documents")
      default: stage("aggregate", named([("n", call("array_agg", field("t")))]))
      }
    let stages = [stage("collection", .path("c")), last]

    #expect(try await results(stages, of: documents, context(heldBytes: 1 << 20)).count > 0)
    let status = await #expect(throws: RPCStatus.self) {
      try await results(stages, of: documents, context(heldBytes: 200_000))
    }
    #expect(status?.code == .resourceExhausted)
    let limited = [stage("collection", .path("c")), stage("sort", order("n")), stage("limit", 1)]
    #expect(try await results(limited, of: documents, context(heldBytes: 250_000)).map(\.key) == [key("c/d0")])
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@Suite(.timeLimit(.minutes(10)), .serialized)
struct ReadViewTests {
  @Test("Past reads and projections return the same on every transport", arguments: World.Way.allCases)
  func views(_ way: World.Way) async throws {
    try await World.with(way) { world in
      let datastore = world.datastore()
      func key(_ path: String) -> DocumentKey { DocumentKey(unchecked: ResourcePath(path)) }
      func set(_ path: String, _ n: Int64) -> Mutation {
        Mutation(key: key(path), operation: .set(["n": .integer(n), "m": .map(["x": 1, "y z": 2])]))
      }
      let first = try await datastore.commit([set("c/a", 1), set("c/b", 2), set("c/gone/sub/x", 3)]).commitTime
      _ = try await datastore.commit([
        set("c/a", 10), set("d/a", 4), Mutation(key: key("c/b"), operation: .delete),
        Mutation(key: key("c/gone/sub/x"), operation: .delete),
      ])
      let all = Query(path: ResourcePath("c"), explicitOrderBy: [OrderBy(FieldPath("n"))]).target

      let part = FieldMask([FieldPath(segments: ["m", "y z"])])
      let then = try await datastore.runQuery(all, ReadView(at: first, projection: part))
      #expect(then.map(\.key) == [key("c/a"), key("c/b")])
      #expect(then.map { $0.data?.fields } == [["m": .map(["y z": 2])], ["m": .map(["y z": 2])]])
      let now = try await datastore.runQuery(all, .names)
      #expect(now.map(\.key) == [key("c/a")] && now.first?.data?.fields == [:])
      let documents = try await datastore.lookup([key("c/b"), key("d/a")], ReadView(at: first, projection: part))
      #expect(documents.map { $0.data?.fields } == [["m": .map(["y z": 2])], nil])
      let figures = try await datastore.aggregate(
        all, [Aggregation(alias: "s", function: .sum(FieldPath("n")))], at: first)
      #expect(figures == ["s": 3])
      let ids = try await datastore.listCollectionIDs(below: .root, at: first)
      #expect(ids == ["c"])
      let missing = try await datastore.missingDocuments(in: ResourcePath("c"), at: first)
      #expect(missing == [key("c/gone")])
    }
  }
}

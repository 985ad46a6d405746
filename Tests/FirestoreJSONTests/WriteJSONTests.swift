// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import Testing

@Suite("Writes as JSON")
struct WriteJSONTests {
  private let database = DatabaseID(project: "shop")
  private static let key = DocumentKey(unchecked: ResourcePath("orders/a"))
  private static let patch = Mutation.Operation.patch(
    ["shipTo": .map(["city": .string("Delft")]), "n": .double(1), "x.y": .null],
    FieldMask([
      FieldPath(segments: ["shipTo", "city"]), FieldPath("n"), FieldPath("old"), FieldPath("x.y"),
    ]))

  static let mutations: [Mutation] = [
    Mutation(key: key, operation: .set(["a": .integer(1), "m": .map(["b": .bytes([1, 2])])])),
    Mutation(key: key, operation: .set([:]), precondition: .exists(false)),
    Mutation(key: key, operation: patch, precondition: .exists(true)),
    Mutation(key: key, operation: patch),
    Mutation(
      key: key, operation: .patch([:], FieldMask([])), precondition: .exists(true),
      transforms: [
        FieldTransform(path: FieldPath(segments: ["stats", "n"]), operation: .increment(.integer(2))),
        FieldTransform(path: FieldPath("at"), operation: .serverTimestamp),
        FieldTransform(path: FieldPath("tags"), operation: .arrayUnion([.string("x")])),
        FieldTransform(path: FieldPath("old"), operation: .arrayRemove([.null])),
        FieldTransform(path: FieldPath("low"), operation: .minimum(.double(0.5))),
        FieldTransform(path: FieldPath("high"), operation: .maximum(.double(.infinity))),
      ]),
    Mutation(key: key, operation: .delete),
    Mutation(
      key: key, operation: .delete, precondition: .updateTime(SnapshotVersion(microseconds: 1_772_452_683_120_000))),
    Mutation(key: key, operation: .verify, precondition: .exists(true)),
  ]

  @Test("Every write round-trips through JSON text", arguments: mutations)
  func roundTrip(_ mutation: Mutation) throws {
    let text = WriteJSON.text(of: [mutation], relativeTo: database)
    #expect(try WriteJSON.parse(text, database: database) == [mutation], "\(text)")
  }

  @Test("An array is an ordered batch, and a lone object is a single write")
  func batch() throws {
    let text = WriteJSON.text(of: Self.mutations, relativeTo: database)
    #expect(try WriteJSON.parse(text, database: database) == Self.mutations)
    #expect(
      try WriteJSON.parse("{\"delete\": \"orders/a\"}", database: database)
        == [Mutation(key: Self.key, operation: .delete)])
  }

  @Test("Transforms are also accepted inside the data")
  func transformsInData() throws {
    let text =
      "{\"merge\": \"orders/a\", \"data\": {\"s.n\": {\"$increment\": 1}, \"m\": {\"at\": {\"$serverTimestamp\": true}}}}"
    let mutations = try WriteJSON.parse(text, database: database)
    #expect(
      mutations.first?.transforms == [
        FieldTransform(path: FieldPath(segments: ["s", "n"]), operation: .increment(.integer(1))),
        FieldTransform(path: FieldPath(segments: ["m", "at"]), operation: .serverTimestamp),
      ])
    #expect(mutations.first?.operation == .patch([:], FieldMask([])))
  }

  @Test(
    "An invalid write is rejected with its position",
    arguments: [
      ("[]", 1, "at least one"),
      ("3", 1, "Expected an object"),
      ("{}", 1, "exactly one of"),
      ("{\"set\": \"orders/a\", \"delete\": \"orders/a\"}", 1, "exactly one of"),
      ("[\n{\"set\": \"orders\", \"data\": {}}]", 9, "orders"),
      ("{\"set\": \"orders/a\"}", 1, "needs \"data\""),
      ("{\"delete\": \"orders/a\", \"data\": {}}", 32, "cannot have"),
      ("{\"set\": \"orders/a\", \"data\": {}, \"dta\": 1}", 40, "not part of a write"),
      ("{\"update\": \"orders/a\", \"data\": {\"a..b\": 1}}", 41, "a..b"),
      ("{\"update\": \"orders/a\", \"remove\": [1]}", 35, "field paths"),
      ("{\"update\": \"orders/a\", \"transform\": {\"a\": 1}}", 43, "expects a transform"),
      ("{\"delete\": \"orders/a\", \"exists\": 1}", 34, "true or false"),
      ("{\"delete\": \"orders/a\", \"updateTime\": \"now\"}", 38, "expects a time"),
    ])
  func refused(_ text: String, _ column: Int, _ reason: String) {
    let error = #expect(throws: JSONError.self) { try WriteJSON.parse(text, database: database) }
    #expect(error?.column == column)
    #expect(error?.reason.contains(reason) == true, "\(error?.description ?? "")")
  }
}

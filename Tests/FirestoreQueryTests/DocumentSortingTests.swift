// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import SeededRandom
import Testing

@Suite("Sorting documents")
struct DocumentSortingTests {
  /// Ids that a comparison of their first bytes alone would get wrong, and such that it gets right.
  private static let ids = [
    "c/__id7__", "c/__id-3__", "c/__id10__", "c/__id_", "c/a", "c/aaaaaaaaa", "c/aaaaaaaab", "c/aaaaaaaa", "c/ä", "c/Z",
    "c/a/d/x", "d/a", "c/_", "c/\u{1}", "c/zzzzzzzzzzzzzzzz",
  ]

  private static let values: [Value] = [
    .null, .boolean(true), .boolean(false), .integer(3), .double(3), .double(-0.0), .integer(0), .double(.nan),
    .double(-.infinity), .double(.infinity), .integer(.max), .integer(.max - 1), .double(9.223372036854775e18),
    .integer(.min), .double(-1.5), .integer(-1), .string(""), .string("a"), .string("abcdefgh"), .string("abcdefghi"),
    .string("ä"), .bytes([1]), .timestamp(Timestamp(seconds: 1)), .array([.integer(1)]), .map(["a": .integer(1)]),
    .serverTimestamp(ServerTimestamp(localWriteTime: Timestamp(seconds: 0), previous: nil)),
  ]

  @Test(
    "Sorting documents gives the same order as comparing every pair",
    arguments: [[], order("n"), order("-n"), order("n", "-m"), order("-n", "m"), [OrderBy(.documentID, .descending)]])
  func oracle(orderBy: [OrderBy]) {
    let query = Query.c(order: orderBy)
    for seed in 0..<20 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      // Every other time only ids that lie in one collection and are not reserved.
      let ids = seed.isMultiple(of: 2) ? Self.ids : (0..<40).map { "c/id\($0)" }
      let documents = ids.shuffled(using: &random).map { id in
        doc(id, ["n": random.pick(Self.values), "m": random.pick(Self.values)])
      }

      let sorted = query.orderBy.sorted(documents)

      let expected = documents.sorted { query.compare($0, $1) == .ascending }
      #expect(sorted.map(\.key) == expected.map(\.key), "seed \(seed)")
    }
  }

  @Test(
    "Of several documents with the same key, a set contains only the last",
    arguments: [([], ["c/a", "c/b"]), (order("-n"), ["c/b", "c/a"])])
  func repeated(orderBy: [OrderBy], keys: [String]) {
    let documents = [1, 2, 3].flatMap { number in
      ["c/a", "c/b"].map { doc($0, ["n": .integer(number)]) }
    }

    let set = DocumentSet(comparing: Query.c(order: orderBy), documents: documents)

    #expect(set.count == 2)
    #expect(set.documents == keys.map { doc($0, ["n": .integer(3)]) })
  }
}

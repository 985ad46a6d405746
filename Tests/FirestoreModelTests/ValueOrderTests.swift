// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import SeededRandom
import Testing

@Suite("Value order")
struct ValueOrderTests {
  @Test(
    "Every pair of values compares as in the published order (VALUE-ORDER)",
    .enabled(if: SpecFiles.areThere(for: "the order of values")))
  func publishedOrder() throws {
    let json = try SpecFiles.json("values/value_order.json")
    let groups = try #require(json["groups"] as? [[[String: Any]]]).map { try $0.map { try Value(spec: $0) } }
    let values = groups.enumerated().flatMap { index, group in group.map { (rank: index, value: $0) } }
    #expect(values.count == 116)

    for left in values {
      for right in values {
        #expect(
          left.value.compare(right.value) == Ordering(left.rank, right.rank), "\(left.value) and \(right.value)")
        // Where the order tells two values apart, equality does so too, and in place comparison agrees.
        if left.rank != right.rank { #expect(left.value != right.value) }
        let stored = EncodedFields(["f": left.value])
        #expect(stored.compare(FieldPath("f"), with: right.value) == Ordering(left.rank, right.rank))
      }
    }
  }

  @Test(
    "Document ids sort as in the published order, numeric ids first",
    .enabled(if: SpecFiles.areThere(for: "the order of document ids")))
  func documentIDs() throws {
    let json = try SpecFiles.json("values/document_id_order.json")
    let ids = try #require(json["ids"] as? [String])
    let paths = ids.map { ResourcePath(segments: ["c", $0]) }

    for (left, leftPath) in paths.enumerated() {
      for (right, rightPath) in paths.enumerated() {
        #expect(leftPath.compare(rightPath) == Ordering(left, right), "\(leftPath) and \(rightPath)")
        #expect((leftPath < rightPath) == (left < right))
        #expect((leftPath == rightPath) == (left == right))
      }
    }
  }

  @Test(
    "Values that compare equal can still differ",
    arguments: [
      (Value.integer(1), Value.double(1), false), (.double(0), .double(-0.0), false),
      (.double(.nan), .double(-.nan), true),
      (.map(["a": .integer(1)]), .map(["a": .double(1)]), false), (.array([.integer(1)]), .array([.double(1)]), false),
      (.vector([0.0]), .vector([-0.0]), false), (.vector([.nan]), .vector([.nan]), true),
      (
        .serverTimestamp(ServerTimestamp(localWriteTime: Timestamp(seconds: 1), previous: .null)),
        .serverTimestamp(ServerTimestamp(localWriteTime: Timestamp(seconds: 1), previous: nil)), true
      ),
    ])
  func equality(left: Value, right: Value, areEqual: Bool) {
    #expect(left.compare(right) == .equal)
    #expect(left.equalsNumerically(right))
    #expect((left == right) == areEqual)
    if areEqual { #expect(left.hashValue == right.hashValue) }
  }

  @Test("Strings compare by bytes, not by canonical equivalence")
  func canonicalEquivalence() {
    let composed = "é"
    let decomposed = "e\u{301}"
    #expect(composed == decomposed)

    #expect(Value.string(decomposed).compare(.string(composed)) == .ascending)
    #expect(Value.string(decomposed) != .string(composed))
    #expect(FieldPath(composed) != FieldPath(decomposed))
    #expect(ResourcePath(composed) != ResourcePath(decomposed))
    #expect(Fields([(composed, .null), (decomposed, .null)]).count == 2)
    #expect(DatabaseID(project: composed) != DatabaseID(project: decomposed))
  }

  @Test("Random values have a total order", arguments: 0..<40 as Range<UInt64>)
  func totality(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let values = (0..<14).map { _ in random.value() }

    for a in values {
      #expect(a.compare(a) == .equal && a == a)
      for b in values {
        #expect(a.compare(b) == b.compare(a).reversed, "seed \(seed): \(a) and \(b)")
        if a == b {
          #expect(a.compare(b) == .equal, "seed \(seed): \(a) and \(b)")
          #expect(a.hashValue == b.hashValue)
        }
        for c in values where a.compare(b) != .descending && b.compare(c) != .descending {
          let isStrict = a.compare(b) == .ascending || b.compare(c) == .ascending
          #expect(a.compare(c) == (isStrict ? .ascending : .equal), "seed \(seed): \(a), \(b) and \(c)")
        }
      }
    }
  }
}

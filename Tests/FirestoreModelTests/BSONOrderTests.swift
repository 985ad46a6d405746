// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Testing

@testable import FirestoreModel

@Suite struct BSONOrderTests {
  private static func typed(_ name: String, _ value: Value) -> Value { .map([name: value]) }

  /// In order; those in one row tie.
  private static let rows: [[Value]] = [
    [.null],
    [typed("__min__", .null)],
    [.boolean(false)],
    [typed("__decimal128__", .string("-1e400")), .double(-.infinity)],
    [.integer(-3), typed("__int__", .integer(-3)), typed("__decimal128__", .string("-3.0"))],
    [.double(2.5), typed("__decimal128__", .string("2.50"))],
    [typed("__int__", .integer(10)), .integer(10), .double(10)],
    [.timestamp(Timestamp(seconds: 5, nanoseconds: 0))],
    [typed("__request_timestamp__", .map(["seconds": .integer(1), "increment": .integer(2)]))],
    [typed("__request_timestamp__", .map(["seconds": .integer(2), "increment": .integer(1)]))],
    [.string("a")],
    [.bytes([1])],
    [typed("__binary__", .bytes([0, 1]))],
    [.reference(database, DocumentKey(unchecked: ResourcePath("c/a")))],
    [typed("__oid__", .string("507f191e810c19729de860ea"))],
    [.geoPoint(GeoPoint(latitude: 1, longitude: 1))],
    [typed("__regex__", .map(["pattern": .string("a"), "options": .string("i")]))],
    [typed("__regex__", .map(["pattern": .string("b"), "options": .string("")]))],
    [.array([])],
    [.vector([1])],
    [.map([:])],
    [.map(["a": .null])],
    [typed("__max__", .null)],
  ]

  @Test("BSON types sort in the documented order, decoded, encoded and stored")
  func order() {
    let all = Self.rows.enumerated().flatMap { row, values in values.map { (row, $0) } }
    for (leftRow, left) in all {
      for (rightRow, right) in all {
        let expected = Ordering(leftRow, rightRow)
        #expect(left.compare(right) == expected, "\(left) \(right)")
        var (leftCode, rightCode) = (OrderedCode(), OrderedCode())
        leftCode.append(left)
        rightCode.append(right)
        #expect(leftCode.bytes.lexicographicallyPrecedes(rightCode.bytes) == (expected == .ascending))
        #expect((leftCode.bytes == rightCode.bytes) == (expected == .equal))
        let stored = EncodedFields(["v": left]).withView { $0.compare(FieldPath("v"), with: right) }
        #expect(stored == expected)
      }
    }
  }

  @Test("A map with an unknown reserved key is treated as an ordinary map")
  func others() {
    #expect(Self.typed("__oid__", .integer(1)).typeRank == Value.map([:]).typeRank)
    #expect(Self.typed("__other__", .null).typeRank == Value.map([:]).typeRank)
    #expect(Value.map(["__min__": .null, "a": .null]).typeRank == Value.map([:]).typeRank)
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Testing

@Suite("Ordered code of values")
struct OrderedCodeValueTests {

  /// Values next to each other in every way that an encoding could get wrong.
  private static let values: [Value] = {
    var values: [Value] = [.null, .boolean(false), .boolean(true)]
    let edges: [Double] = [
      .nan, -.infinity, -.greatestFiniteMagnitude, -0x1p63, -0x1p53, -1.5, -1, -.leastNonzeroMagnitude, -0.0, 0,
      .leastNonzeroMagnitude, 1, 1.5, 0x1p53, 0x1p53 + 2, 0x1p63, 0x1p63.nextDown, .greatestFiniteMagnitude, .infinity,
    ]
    values += edges.map { .double($0) }
    let integers: [Int64] = [
      .min, .min + 1, -0x20_0000_0000_0001, -1, 0, 1, 255, 256, 0x20_0000_0000_0000, 0x20_0000_0000_0001,
      0x20_0000_0000_0002, .max - 1024, .max - 512, .max - 1, .max,
    ]
    values += integers.map { .integer($0) }
    values += [-1, 0, 1].map { .timestamp(Timestamp(seconds: $0, nanoseconds: 5)) }
    values += [.timestamp(Timestamp(seconds: 0, nanoseconds: 6)), .timestamp(Timestamp(seconds: .min))]
    let texts = ["", "\0", "\0\0", "\0\u{1}", "a", "a\0", "a\0b", "ab", "b", "é", "e\u{301}", "\u{ffff}", "\u{10000}"]
    values += texts.map { .string($0) }
    values += [[], [0], [0, 0], [0, 0xff], [0xff], [0xff, 0], [0xff, 0xff], [1]].map { .bytes($0) }
    values += ["a/b", "a/b/c/d", "a/c", "a/__id3__", "a!/b", "ab/a"].map {
      .reference(database, DocumentKey(unchecked: ResourcePath($0)))
    }
    values.append(.reference(DatabaseID(project: "q"), DocumentKey(unchecked: ResourcePath("a/a"))))
    values += [(-1, 2), (-1, 3), (0, -0.0), (-0.0, 0), (1, -5)].map {
      .geoPoint(GeoPoint(latitude: $0.0, longitude: $0.1))
    }
    let lists: [[Value]] = [
      [], [.null], [.null, .null], [.integer(1)], [.integer(1), .null], [.double(1), .string("")], [.string("a")],
      [.array([])], [.array([.null])], [.map([:])],
    ]
    values += lists.map { .array($0) }
    values += [[], [1], [2], [-0.0], [1, 1], [.nan]].map { .vector($0) }
    let maps: [Fields] = [
      [:], ["a": .null], ["a": .null, "b": .null], ["a": .integer(1)], ["b": .null], ["a\0": .null], ["\0": .null],
      ["": .null], ["a": .map(["b": .array([])])],
    ]
    values += maps.map { .map($0) }
    values.append(.map(["__type__": .string("__max__")]))
    return values
  }()

  private func code(_ value: Value, isDescending: Bool = false) -> [UInt8] {
    var code = OrderedCode(isDescending: isDescending)
    code.append(value)
    return code.bytes
  }

  private func compare(_ left: [UInt8], _ right: [UInt8]) -> Ordering {
    left == right ? .equal : left.lexicographicallyPrecedes(right) ? .ascending : .descending
  }

  @Test("Ordered codes sort like values in both directions; none is a prefix of another")
  func order() {
    for left in Self.values {
      for right in Self.values {
        let expected = left.compare(right)
        let (a, b) = (code(left), code(right))
        #expect(compare(a, b) == expected, "\(left) \(right)")
        let (c, d) = (code(left, isDescending: true), code(right, isDescending: true))
        #expect(compare(c, d) == expected.reversed, "\(left) \(right)")
        #expect(expected == .equal || !a.starts(with: b), "\(left) \(right)")
      }
    }
  }

  @Test("A stored value and a decoded value have the same ordered code")
  func stored() {
    for value in Self.values {
      let fields = EncodedFields(["x": value])
      let bytes = fields.withView { view in
        var code = OrderedCode()
        #expect(view.find(FieldPath("x")).map { code.append($0) } == true)
        return code.bytes
      }
      #expect(bytes == code(value), "\(value)")
    }
  }

  @Test("The first byte of an ordered code identifies the type and is never 0 or 255")
  func ranks() {
    for value in Self.values {
      #expect(code(value).first == OrderedCode.rank(of: value))
      #expect((1..<255).contains(OrderedCode.rank(of: value)))
    }
  }
}

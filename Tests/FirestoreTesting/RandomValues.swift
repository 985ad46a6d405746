// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import SeededRandom

extension SeededGenerator {
  package mutating func list<T>(upTo count: Int, _ make: (inout SeededGenerator) -> T) -> [T] {
    (0..<Int.random(in: 0...count, using: &self)).map { _ in make(&self) }
  }

  /// Short texts in which escapes, combining characters, supplementary characters and `$` names occur.
  package mutating func text() -> String {
    let parts = [
      "a", "b", "e\u{301}", "é", "\u{ffee}", "🐵", "\"", "\\", "\n", "\u{7}", "\u{85}", "$", "$ref", "`", "/", " ",
      "0", "__", ".",
    ]
    return list(upTo: 4) { $0.pick(parts) }.joined()
  }

  package mutating func name() -> String {
    let name = text()
    return name.isEmpty || (name.utf8.starts(with: "__".utf8)) ? "n" + name : name
  }

  package mutating func number() -> Double {
    pick([
      0, -0.0, 1, -1.5, 0.1, .nan, .infinity, -.infinity, 0x1p53, 0x1p63, -0x1p63, .leastNonzeroMagnitude,
      .greatestFiniteMagnitude,
    ])
  }

  package mutating func timestamp() -> Timestamp {
    Timestamp(
      seconds: Int64.random(in: -62_135_596_800...253_402_300_799, using: &self),
      nanoseconds: pick([0, 120_000_000, 123_456_000, 123_456_789, 999_999_999]))
  }

  package mutating func key() -> DocumentKey {
    DocumentKey(
      unchecked: ResourcePath(segments: ["c" + pick(["", "1", "é"]), pick(["x", "__id7__", "__id12__", "🐵"])]))
  }

  /// Any type but the server timestamp.
  package mutating func value(depth: Int = 3) -> Value {
    switch Int.random(in: 0..<(depth > 0 ? 13 : 10), using: &self) {
    case 0: .null
    case 1: .boolean(.random(using: &self))
    case 2: .integer(pick([0, 1, -1, .max, .min, 1 << 53, 1 << 53 + 1]))
    case 3: .double(number())
    case 4: .timestamp(timestamp())
    case 5: .string(text())
    case 6: .bytes(list(upTo: 5) { UInt8.random(in: 0...255, using: &$0) })
    case 7: .reference(pick([DatabaseID(project: "p"), DatabaseID(project: "q", database: "d")]), key())
    case 8:
      .geoPoint(
        GeoPoint(
          latitude: Double.random(in: -90...90, using: &self), longitude: pick([0, -180, 180, 12.5])))
    case 9: .vector(list(upTo: 3) { $0.number() })
    case 10: .array(list(upTo: 3) { $0.value(depth: depth - 1) })
    default: .map(fields(depth: depth - 1))
    }
  }

  package mutating func fields(depth: Int = 3) -> Fields {
    Fields(list(upTo: 4) { ($0.name(), $0.value(depth: depth)) })
  }
}

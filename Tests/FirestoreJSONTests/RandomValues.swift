// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// SplitMix64: the same seed gives the same values on every machine.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &self)] }

  mutating func list<T>(upTo count: Int, _ make: (inout SeededGenerator) -> T) -> [T] {
    (0..<Int.random(in: 0...count, using: &self)).map { _ in make(&self) }
  }
}

extension SeededGenerator {
  /// Short texts in which escapes, combining characters, supplementary characters and `$` names occur.
  mutating func text() -> String {
    let parts = [
      "a", "b", "e\u{301}", "é", "\u{ffee}", "🐵", "\"", "\\", "\n", "\u{7}", "\u{85}", "$", "$ref", "`", "/", " ",
      "0", "__", ".",
    ]
    return list(upTo: 4) { $0.pick(parts) }.joined()
  }

  mutating func name() -> String {
    let name = text()
    return name.isEmpty || (name.utf8.starts(with: "__".utf8)) ? "n" + name : name
  }

  mutating func number() -> Double {
    pick([
      0, -0.0, 1, -1.5, 0.1, .nan, .infinity, -.infinity, 0x1p53, 0x1p63, -0x1p63, .leastNonzeroMagnitude,
      .greatestFiniteMagnitude,
    ])
  }

  mutating func timestamp() -> Timestamp {
    Timestamp(
      seconds: Int64.random(in: -62_135_596_800...253_402_300_799, using: &self),
      nanoseconds: pick([0, 120_000_000, 123_456_000, 123_456_789, 999_999_999]))
  }

  mutating func key() -> DocumentKey {
    DocumentKey(
      unchecked: ResourcePath(segments: ["c" + pick(["", "1", "é"]), pick(["x", "__id7__", "__id12__", "🐵"])]))
  }

  /// Any type but the server timestamp.
  mutating func value(depth: Int = 3) -> Value {
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

  mutating func fields(depth: Int = 3) -> Fields {
    Fields(list(upTo: 4) { ($0.name(), $0.value(depth: depth)) })
  }
}

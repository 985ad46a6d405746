// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Testing

@testable import FirestoreModel

/// Changes whose parts are many. Compared each with each they would take very long.
@Suite(.timeLimit(.minutes(10))) struct LinearChangeTests {
  private static let many = (0..<15_000).map { Value.integer(Int64($0)) }
  private static let doubles = (0..<15_000).map { Value.double(Double($0)) }

  @Test("Array transforms take linear time and match equal integers and doubles")
  func arrays() {
    let time = Timestamp(seconds: 0, nanoseconds: 0)
    let union = FieldTransform.Operation.arrayUnion(Self.doubles + Self.many)
    #expect(union.backendResult(previous: .array(Self.many), at: time) == .array(Self.many))
    #expect(union.localResult(previous: .array(Self.many), at: time) == .array(Self.many + Self.doubles))
    let removal = FieldTransform.Operation.arrayRemove(Self.doubles)
    #expect(removal.backendResult(previous: .array(Self.many), at: time) == .array([]))
    #expect(removal.localResult(previous: .array(Self.many), at: time) == .array(Self.many))
  }

  @Test("The backend treats elements that compare equal as duplicates, also in maps")
  func equality() {
    let stored: [Value] = [.double(0), .double(.nan), .map(["a": .integer(1)]), .string("é")]
    let same: [Value] = [.double(-0.0), .double(-.nan), .map(["a": .double(1)]), .string("é")]
    let time = Timestamp(seconds: 0)
    let union = FieldTransform.Operation.arrayUnion(same)
    #expect(union.backendResult(previous: .array(stored), at: time) == .array(stored))
    #expect(FieldTransform.Operation.arrayRemove(same).backendResult(previous: .array(stored), at: time) == .array([]))
    let twice = FieldTransform.Operation.arrayUnion([.integer(1), .double(1), .integer(2), .integer(1)])
    #expect(twice.backendResult(previous: nil, at: time) == .array([.integer(1), .integer(2)]))
  }

  @Test("A patch with many paths runs in linear time")
  func patch() {
    let names = (0..<10_000).map { "f\($0 * 7_919 % 10_000)" }
    let inner = Fields(names.map { ($0, .integer(1)) })
    let old: Fields = ["m": .map(inner), "z": .integer(1)]
    let new: Fields = ["m": .map(Fields(names.map { ($0, .integer(2)) }))]
    let mask = FieldMask(names.map { FieldPath(segments: ["m", $0]) })

    #expect(old.patched(with: new, at: mask) == ["m": new["m"] ?? .null, "z": .integer(1)])
    #expect(old.patched(with: [:], at: mask) == ["m": .map([:]), "z": .integer(1)])
  }

  @Test("Deep paths with long shared prefixes run in linear time")
  func deepPaths() {
    let shared = Array(repeating: "a", count: 150)
    let mask = FieldMask((0..<TestSize.count(2_000, full: 20_000)).map { FieldPath(segments: shared + ["f\($0)"]) })
    func nested(_ fields: Fields) -> Fields { shared.reversed().reduce(fields) { [$1: .map($0)] } }
    let old = nested(["f7": .integer(1), "g": .integer(1)])

    #expect(old.patched(with: nested(["f8": .integer(2)]), at: mask) == nested(["f8": .integer(2), "g": .integer(1)]))
    #expect(old.projected(to: mask) == nested(["f7": .integer(1)]))
  }

  @Test("A patch and a projection give the same result as setting or copying each path")
  func patchOracle() {
    let values: [Value?] = [nil, .integer(1), .map(["a": .integer(2)]), .map(["a": .map(["b": .integer(3)])])]
    let paths = [["a"], ["a", "a"], ["a", "a", "b"], ["a", "c"], ["b"], ["b", "a"]].map { FieldPath(segments: $0) }
    for old in values {
      for new in values {
        for choice in 0..<(1 << paths.count) {
          let chosen = paths.indices.filter { choice >> $0 & 1 == 1 }.map { paths[$0] }
          var (before, source) = (Fields(), Fields())
          for name in ["a", "b"] { (before[name], source[name]) = (old, new) }
          var expected = before
          for path in chosen.sorted() { expected[path] = source[path] }
          #expect(before.patched(with: source, at: FieldMask(chosen)) == expected, "\(before) \(source) \(chosen)")
          var part = Fields()
          for path in chosen.sorted() {
            if let value = before[path] { part[path] = value }
          }
          #expect(before.projected(to: FieldMask(chosen)) == part, "\(before) \(chosen)")
        }
      }
    }
  }
}

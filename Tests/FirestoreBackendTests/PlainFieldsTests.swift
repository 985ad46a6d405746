// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestoreBackend

/// The fields of most writes are stored as they came, by a look at their bytes. The way by decoding them is the oracle.
@Suite struct PlainFieldsTests {
  private static func message(_ entries: some Sequence<Fields>) -> [UInt8] {
    WireWriter.message { writer in
      writer.field(1, string: "projects/p/databases/(default)/documents/c/a")
      for fields in entries { writer.entries(EncodedFields.fieldNumber, fields) }
      writer.field(4, timestamp: Timestamp(seconds: 1))
    }
  }

  private static func plain(_ bytes: [UInt8]) -> Fields? { bytes.withUnsafeBytes { Fields(plainDocument: $0) } }

  @Test(
    "Encoded fields accepted as is pass all checks and are stored like decoded fields", arguments: UInt64(0)..<300
  )
  func oracle(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let fields = random.fields()
    let parts = fields.entries.shuffled(using: &random).map { Fields(sorted: [$0]) }
    guard let plain = Self.plain(Self.message(parts)) else { return }
    let stored = EncodedFields(fields.truncatingTimestamps).bytes
    #expect(plain.arePlain && EncodedFields(plain).bytes == stored && plain == fields, "seed \(seed)")
    try WriteValidation.check(Mutation(key: key("c/a"), operation: .set(fields)))
    try WriteValidation.check(Mutation(key: key("c/a"), operation: .set(plain)))
  }

  private static let ordinary: Fields = [
    "b": true, "d": 2.5, "e": "é", "g": .geoPoint(GeoPoint(latitude: -90, longitude: 180)), "i": -1, "l": [1, "x"],
    "m": ["z": ["y": [.null]]], "n": .null, "s": "text", "t": .timestamp(Timestamp(seconds: 7, nanoseconds: 5_000)),
    "x": .bytes([0, 255]), "r": .reference(database, key("c/b")), "nested_": ["a__": 1],
  ]

  @Test("Ordinary encoded fields are accepted as is and can still be changed")
  func taken() throws {
    var fields = try #require(Self.plain(Self.message([Self.ordinary])))
    #expect(fields.arePlain && fields == Self.ordinary && fields.count == Self.ordinary.count)
    fields["i"] = 2
    #expect(!fields.arePlain && fields["i"] == 2 && fields["b"] == true)
    #expect(try #require(Self.plain([])).isEmpty)
  }

  private static func deep(_ depth: Int, _ inner: Value = 1) -> Value {
    depth == 0 ? inner : ["a": deep(depth - 1, inner)]
  }

  @Test(
    "Encoded fields that a commit rejects or rewrites are not accepted as is",
    arguments: [
      ["": 1], ["__a__": 1], [String(repeating: "a", count: 1_501): 1], ["a": ["": 1]], ["a": ["__a__": 1]],
      ["a": [[1]]], ["a": ["b": [[1]]]], ["a": deep(21)], ["a": deep(20, [:])], ["a": deep(20, [])],
      ["a": .vector([1])],
      ["a": .timestamp(Timestamp(seconds: 1, nanoseconds: 1))], ["a": [.timestamp(Timestamp(seconds: 1 << 40))]],
      ["a": .timestamp(Timestamp(seconds: -62_135_596_801))],
      ["a": .geoPoint(GeoPoint(latitude: 91, longitude: 0))], ["a": .geoPoint(GeoPoint(latitude: 0, longitude: .nan))],
      ["a": .string(String(repeating: "a", count: 200_000))],
    ] as [Fields])
  func left(_ fields: Fields) {
    #expect(Self.plain(Self.message([fields])) == nil)
  }

  @Test("Encoded fields at the maximum depth are accepted as is")
  func depth() throws {
    let fields = try #require(Self.plain(Self.message([["a": Self.deep(20), "b": Self.deep(19, [:])]])))
    try WriteValidation.check(Mutation(key: key("c/a"), operation: .set(fields)))
    #expect(throws: (any Error).self) {
      try WriteValidation.check(Mutation(key: key("c/a"), operation: .set(["a": Self.deep(21)])))
    }
  }
}

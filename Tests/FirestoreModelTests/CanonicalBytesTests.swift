// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestoreModel

@Suite("Canonical field encoding")
struct CanonicalBytesTests {
  /// What decoding every field and encoding it again gives; `nil` for malformed bytes.
  private func reencoded(_ bytes: [UInt8]) -> [UInt8]? {
    bytes.withUnsafeBytes { buffer in
      var reader = WireReader(buffer)
      return (try? reader.fields(EncodedFields.fieldNumber)).map { EncodedFields($0).bytes }
    }
  }

  private func read(_ bytes: [UInt8]) -> [UInt8]? {
    bytes.withUnsafeBytes { try? EncodedFields(document: $0).bytes }
  }

  /// Field 2 of each entry of `fields`, one by one.
  private func entries(_ fields: Fields) -> [[UInt8]] {
    fields.entries.map { EncodedFields(Fields(sorted: [$0])).bytes }
  }

  @Test("Reading field bytes gives the same result as decoding and re-encoding them", arguments: UInt64(0)..<400)
  func oracle(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let fields = random.fields()
    var parts = entries(fields)
    parts.shuffle(using: &random)
    // Other fields of a document, before, between and after.
    parts.insert([0x0a, 1, 0x61], at: Int.random(in: 0...parts.count, using: &random))
    parts.append([0x1a, 2, 8, 1])
    if Bool.random(using: &random), let repeated = parts.randomElement(using: &random) { parts.append(repeated) }
    let bytes = Array(parts.joined())
    #expect(read(bytes) == reencoded(bytes), "seed \(seed)")

    for _ in 0..<50 {
      var broken = bytes
      let place = Int.random(in: 0..<broken.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: broken[place] = UInt8.random(in: 0...255, using: &random)
      case 1: broken.remove(at: place)
      case 2: broken.insert(UInt8.random(in: 0...255, using: &random), at: place)
      default: broken[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      #expect(read(broken) == reencoded(broken), "seed \(seed), \(broken)")
    }
  }

  @Test("Canonical fields are recognized for every type and in any order")
  func recognised() {
    let values: [Value] = [
      .null, .boolean(true), .integer(-1), .integer(1 << 40), .double(-0.0), .double(.nan), .string("é\u{10ffff}"),
      .timestamp(Timestamp(seconds: -5, nanoseconds: 7)), .bytes([0, 255]),
      .geoPoint(GeoPoint(latitude: 0, longitude: -1)),
      .reference(database, DocumentKey(unchecked: ResourcePath("a/b"))),
      .array([.integer(300), .string(String(repeating: "x", count: 200))]), .map(["a": .map([:]), "b": .array([])]),
    ]
    for value in values {
      let bytes = EncodedFields(["field": value]).bytes
      let name = bytes.withUnsafeBytes { buffer in
        CanonicalScan(buffer).field(0x12, at: 0, before: buffer.count)
          .flatMap { CanonicalScan(buffer).name(ofEntry: $0) }
      }
      #expect(name != nil, "\(value)")
    }
  }

  @Test(
    "Non-canonical encodings are not recognized as canonical",
    arguments: [
      ("a number with a superfluous byte", [0x10, 0x81, 0x00]),
      ("a number of more than 64 bits", [0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03]),
      ("two types", [0x10, 0x01, 0x58, 0x00]),
      ("an unknown type", [0x60, 0x01]),
      ("no type", []),
      ("a boolean of two", [0x08, 0x02]),
      ("a zero second", [0x52, 0x02, 0x08, 0x00]),
      ("nanoseconds of a whole second", [0x52, 0x06, 0x10, 0x80, 0x94, 0xeb, 0xdc, 0x03]),
      ("a string that is not UTF-8", [0x8a, 0x01, 0x01, 0xff]),
      ("a map that stands for another type", [0x32, 0x07, 0x0a, 0x05, 0x0a, 0x01, 0x5f, 0x12, 0x00]),
      ("a name that is no document's", [0x2a, 0x01, 0x61]),
    ] as [(String, [UInt8])])
  func refused(_ what: String, _ value: [UInt8]) {
    let entry: [UInt8] = [0x0a, 1, 0x61, 0x12, UInt8(value.count)] + value
    let name = entry.withUnsafeBytes { CanonicalScan($0).name(ofEntry: 0..<entry.count) }
    #expect(name == nil, "\(what)")
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import SeededRandom

/// The documents that all cases work on: cities with 12 fields and about 460 wire bytes, under random ids as
/// `addDocument` makes them. `state` has 50 values, so that an equality query hits one document in fifty.
enum SampleData {
  static let collection = ResourcePath("cities")
  /// For the question whether a query's cost depends on documents that it is not about.
  static let otherCollection = ResourcePath("villages")
  static let stateCount = 50
  static let firstVersion: Int64 = 1_700_000_000_000_000

  static func state(_ number: Int) -> Value { .string("state-\(number / 10)\(number % 10)") }

  /// - Parameter collection: decides the ids as well.
  static func documents(_ count: Int, in collection: ResourcePath = SampleData.collection) -> [Document] {
    var random = SeededGenerator(seed: collection == Self.collection ? 1 : 2)
    return (0..<count).map { document($0, collection.appending(id(&random)), &random) }
  }

  private static func document(_ number: Int, _ path: ResourcePath, _ random: inout SeededGenerator) -> Document {
    let version = SnapshotVersion(microseconds: firstVersion + Int64(number / 500))
    return Document(
      key: DocumentKey(unchecked: path), version: version, createTime: version,
      state: .found(DocumentData(encoded: EncodedFields(fields(number, &random)))))
  }

  static func fields(_ number: Int, _ random: inout SeededGenerator) -> Fields {
    [
      "name": .string("City of \(text(12, &random))"),
      "state": state(Int.random(in: 0..<stateCount, using: &random)),
      "country": .string("country-\(Int.random(in: 0..<200, using: &random))"),
      "population": .integer(Int64.random(in: 1_000..<40_000_000, using: &random)),
      "elevation": .integer(Int64.random(in: 0..<4_000, using: &random)),
      "area": .double(Double.random(in: 1..<10_000, using: &random)),
      "rating": .double(Double.random(in: 0..<5, using: &random)),
      "isCapital": .boolean(number % 40 == 0),
      "founded": .timestamp(Timestamp(seconds: Int64.random(in: -30_000_000_000..<1_600_000_000, using: &random))),
      "description": .string(text(150, &random)),
      "location": .map([
        "latitude": .double(Double.random(in: -90...90, using: &random)),
        "longitude": .double(Double.random(in: -180...180, using: &random)), "zone": .string("UTC+\(number % 12)"),
      ]),
      "tags": .array((0..<3).map { _ in .string("tag-\(Int.random(in: 0..<100, using: &random))") }),
    ]
  }

  private static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)

  private static func id(_ random: inout SeededGenerator) -> String { text(20, &random) }

  private static func text(_ count: Int, _ random: inout SeededGenerator) -> String {
    String(decoding: (0..<count).map { _ in letters[Int(random.next() % UInt64(letters.count))] }, as: UTF8.self)
  }
}

// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth
import Testing

/// Data in and out.
@Suite(.timeLimit(.minutes(10)))
struct ValueTests {
  @Test("Every type of value round-trips")
  func roundTrip() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      let written: [String: Any] = [
        "null": NSNull(), "true": true, "int": 7, "int8": Int8(-7), "uint": UInt16(9), "large": Int64.max,
        "double": 1.5, "float": Float(0.5), "whole": 2.0, "string": "naïve", "data": Data([0, 255]),
        "date": Date(timeIntervalSince1970: 1_000.5), "timestamp": Timestamp(seconds: 5, nanoseconds: 6_000),
        "geo": GeoPoint(latitude: 37.7, longitude: -122.4), "vector": FieldValue.vector([1.0, 2.0]),
        "reference": test.db.document("cities/LA"), "array": [1, "two", ["three": 3]] as [Any],
        "map": ["inner": ["deep": true]], "none": Optional<Int>.none as Any, "number": NSNumber(value: 1),
        "truth": NSNumber(value: true),
      ]
      try await city.enqueueData(written).local

      let data = try #require(try await city.getDocument(source: .cache).data())
      #expect(data.count == written.count)
      #expect(data["null"] is NSNull && data["none"] is NSNull)
      #expect(data["true"] as? Bool == true && data["truth"] as? Bool == true)
      #expect(data["int"] as? Int == 7 && data["int8"] as? Int == -7 && data["uint"] as? Int64 == 9)
      #expect(data["number"] as? Int == 1)
      #expect(data["large"] as? Int64 == .max)
      #expect(data["double"] as? Double == 1.5 && data["float"] as? Double == 0.5 && data["whole"] as? Int == 2)
      #expect(data["string"] as? String == "naïve")
      #expect(data["data"] as? Data == Data([0, 255]))
      #expect(data["date"] as? Timestamp == Timestamp(seconds: 1_000, nanoseconds: 500_000_000))
      #expect((data["date"] as? Timestamp)?.dateValue() == Date(timeIntervalSince1970: 1_000.5))
      #expect(data["timestamp"] as? Timestamp == Timestamp(seconds: 5, nanoseconds: 6_000))
      #expect(data["geo"] as? GeoPoint == GeoPoint(latitude: 37.7, longitude: -122.4))
      #expect((data["vector"] as? VectorValue)?.array == [1, 2])
      #expect(data["reference"] as? DocumentReference == test.db.document("cities/LA"))
      let array = try #require(data["array"] as? [Any])
      #expect(
        array[0] as? Int == 1 && array[1] as? String == "two" && (array[2] as? [String: Any])?["three"] as? Int == 3)
      #expect(((data["map"] as? [String: Any])?["inner"] as? [String: Any])?["deep"] as? Bool == true)
    }
  }

  @Test("Merging keeps other fields, and mergeFields writes only the named fields")
  func merging() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      try await city.setData(["a": 1, "b": ["c": 2, "d": 3]])
      try await city.setData(["b": ["c": 4, "d": FieldValue.delete()]], merge: true)
      try await city.setData(["a": 9, "e": ["f": 5, "g": 6]], mergeFields: ["e.f"])

      let data = try #require(try await city.getDocument(source: .server).data())
      #expect(data["a"] as? Int == 1)
      #expect((data["b"] as? [String: Int]) == ["c": 4])
      #expect((data["e"] as? [String: Int]) == ["f": 5])
    }
  }

  @Test("updateData resolves dots and FieldPaths, deletes fields and keeps the rest")
  func updating() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      try await city.setData(["map": ["a": 1, "b": 2], "gone": true, "x.y": 0])
      try await city.updateData(["map.a": 3, "gone": FieldValue.delete(), FieldPath(["x.y"]): 4])

      let snapshot = try await city.getDocument(source: .server)
      #expect((snapshot.get("map") as? [String: Int]) == ["a": 3, "b": 2])
      #expect(snapshot.get("gone") == nil)
      #expect(snapshot.get(FieldPath(["x.y"])) as? Int == 4)
      #expect(snapshot["map.b"] as? Int == 2)
    }
  }

  @Test("Updating a document that does not exist fails with notFound")
  func updatingMissing() async throws {
    try await TestDatabase.run { test async throws in
      await #expect { try await test.db.document("cities/none").updateData(["a": 1]) } throws: { error in
        code(of: error) == .notFound
      }
    }
  }

  @Test("Transforms are applied locally first and then by the backend")
  func transforms() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      try await city.setData(["n": 1, "d": 1.5, "low": 5, "high": 5, "tags": ["a", "b"]])
      _ = try await city.getDocument()
      try await test.db.disableNetwork()
      let write = try city.enqueueUpdate([
        "n": FieldValue.increment(Int64(2)), "d": FieldValue.increment(0.5),
        "low": FieldValue.minimum(Int64(3)), "high": FieldValue.maximum(Int64(3)),
        "tags": FieldValue.arrayUnion(["c", "a"]), "at": FieldValue.serverTimestamp(),
      ])
      try await write.local

      let local = try await city.getDocument()
      #expect(local.get("n") as? Int == 3 && local.get("d") as? Double == 2.0)
      #expect(local.get("low") as? Int == 3 && local.get("high") as? Int == 5)
      #expect(local.get("tags") as? [String] == ["a", "b", "c"])
      #expect(local.get("at") is NSNull)
      #expect(local.get("at", serverTimestampBehavior: .estimate) is Timestamp)
      #expect(local.data(with: .previous)?["at"] is NSNull)

      try await test.db.enableNetwork()
      try await write.acknowledged
      let stored = try await test.other.document("cities/SF").getDocument(source: .server)
      #expect(stored.get("n") as? Int == 3 && stored.get("at") is Timestamp)
      try await city.updateData(["tags": FieldValue.arrayRemove(["b"])])
      #expect(try await city.getDocument(source: .server).get("tags") as? [String] == ["a", "c"])
    }
  }

  /// Makes one mistake.
  struct Mistake: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var write: @Sendable (Firestore) throws -> WriteHandle
    var text: String
  }

  static let mistakes: [Mistake] = [
    Mistake(testDescription: "nested arrays", write: { try $0.document("a/b").enqueueData(["x": [[1]]]) }, text: "x"),
    Mistake(
      testDescription: "delete in set", write: { try $0.document("a/b").enqueueData(["x": FieldValue.delete()]) },
      text: "delete()"),
    Mistake(
      testDescription: "delete below the top of an update",
      write: { try $0.document("a/b").enqueueUpdate(["x": ["y": FieldValue.delete()]]) }, text: "x.y"),
    Mistake(
      testDescription: "a sentinel in an array",
      write: { try $0.document("a/b").enqueueData(["x": [FieldValue.serverTimestamp()]]) }, text: "x"),
    Mistake(
      testDescription: "a reserved name", write: { try $0.document("a/b").enqueueData(["__x__": 1]) }, text: "__"),
    Mistake(testDescription: "an empty name", write: { try $0.document("a/b").enqueueData(["": 1]) }, text: "empty"),
    Mistake(
      testDescription: "an unknown type", write: { try $0.document("a/b").enqueueData(["x": 1...2]) },
      text: "ClosedRange"),
    Mistake(
      testDescription: "a huge number", write: { try $0.document("a/b").enqueueData(["x": UInt64.max]) }, text: "64"),
    Mistake(
      testDescription: "a place off the globe",
      write: { try $0.document("a/b").enqueueData(["x": GeoPoint(latitude: 91, longitude: 0)]) }, text: "latitude"),
    Mistake(
      testDescription: "a collection as document", write: { try $0.document("a/b/c").enqueueData([:]) }, text: "a/b/c"),
    Mistake(testDescription: "an empty path", write: { try $0.document("").enqueueDelete() }, text: "empty"),
    Mistake(testDescription: "a double slash", write: { try $0.document("a//b").enqueueDelete() }, text: "a//b"),
    Mistake(testDescription: "two dots", write: { try $0.document("a/b").enqueueUpdate(["x..y": 1]) }, text: "x..y"),
    Mistake(
      testDescription: "a field and its parent", write: { try $0.document("a/b").enqueueUpdate(["x": 1, "x.y": 1]) },
      text: "x.y"),
    Mistake(
      testDescription: "a stranger's reference",
      write: {
        try $0.document("a/b").enqueueData(["x": Firestore.firestore(app: $0.app, database: "other").document("a/b")])
      },
      text: "database"),
  ]

  @Test("An error names the invalid argument, and nothing is written", arguments: mistakes)
  func wrongArguments(_ mistake: Mistake) async throws {
    try await TestDatabase.run { test async throws in
      await expect(.invalidArgument, mistake.text) { try mistake.write(test.db) }
      #expect(try await test.db.document("a/b").getDocument().exists == false)
    }
  }
}

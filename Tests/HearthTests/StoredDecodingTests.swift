// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth
import Testing

private struct Everything: Codable, Equatable {
  enum Kind: String, Codable { case small, large }
  struct Inner: Codable, Equatable {
    var flag: Bool
    var text: String
  }

  @DocumentID var id: String?
  @ExplicitNull var note: String?
  @ServerTimestamp var seen: Date?
  var truth: Bool
  var int: Int
  var byte: Int8
  var unsigned: UInt
  var single: Float
  var double: Double
  var text: String
  var kind: Kind
  var data: Data
  var date: Date
  var time: Timestamp
  var place: GeoPoint
  var vector: VectorValue
  var link: DocumentReference
  var page: URL
  var price: Decimal
  var inner: Inner
  var list: [Int]
  var inners: [Inner]
  var table: [String: Double]
  var absent: Int?
}

/// Documents are decoded from what is stored; data of a program's own by the same rules. Each is the other's oracle.
@Suite(.timeLimit(.minutes(10)))
struct StoredDecodingTests {
  private func good(_ db: Firestore) -> [String: Any] {
    [
      "note": "n", "seen": Timestamp(seconds: 9, nanoseconds: 0), "truth": true, "int": 1, "byte": -7, "unsigned": 8,
      "single": 0.5, "double": 2.25, "text": "t", "kind": "large", "data": Data([1, 2]),
      "date": Date(timeIntervalSince1970: 5),
      "time": Timestamp(seconds: 1, nanoseconds: 2_000), "place": GeoPoint(latitude: 1, longitude: 2),
      "vector": FieldValue.vector([1.0, 2.0]), "link": db.document("a/b"), "page": "https://example.com",
      "price": "12.5",
      "inner": ["flag": false, "text": "x"], "list": [1, 2, 3], "inners": [["flag": true, "text": ""]],
      "table": ["b": 2.5],
    ]
  }

  private func odd(_ db: Firestore) -> [Any] {
    [
      NSNull(), false, 0, 300, -1, Int64.max, 1.5, Double.infinity, 3.0, "x", "small", Data([9]),
      Timestamp(seconds: 7, nanoseconds: 0), GeoPoint(latitude: 0, longitude: 0), FieldValue.vector([3.0]),
      db.document("c/d"),
      ["flag": 1], ["flag": true, "text": NSNull()], [Any](), [1.0, 2.0], [1, "two"], [["flag": true]],
    ]
  }

  /// The value or the error, as text.
  private func outcome<T>(_ decode: () throws -> T) -> String {
    do { return "\(try decode())" } catch DecodingError.typeMismatch(let type, let context) {
      return "mismatch \(type) \(context.codingPath.map(\.stringValue)) \(context.debugDescription)"
    } catch DecodingError.valueNotFound(let type, let context) {
      return "no value \(type) \(context.codingPath.map(\.stringValue)) \(context.debugDescription)"
    } catch { return "\(error)" }
  }

  /// - Parameter isWaiting: whether the data is that of a write that waits, which is held decoded, or came from the server
  ///   in its encoding.
  @Test(
    "Stored fields decode, or fail to decode, like the data that was written",
    arguments: [true, false])
  func sameAsGiven(isWaiting: Bool) async throws {
    try await TestDatabase.run { test async throws in
      if isWaiting { try await test.db.disableNetwork() }
      let document = test.db.document("all/one")
      let (good, odd) = (good(test.db), odd(test.db))
      var data: [[String: Any]] = [good, ["id": "x"].merging(good) { $1 }]
      for name in good.keys.sorted() {
        var less = good
        less[name] = nil
        data.append(less)
        for value in odd { data.append(good.merging([name: value]) { $1 }) }
      }
      var failures = 0
      for data in data {
        let write = try document.enqueueData(data)
        try await write.local
        if !isWaiting { try await write.acknowledged }
        let snapshot = try await document.getDocument(source: isWaiting ? .cache : .server)
        #expect(snapshot.metadata.hasPendingWrites == isWaiting)
        let read = try #require(snapshot.data())
        let stored = outcome { try snapshot.data(as: Everything.self) }
        let given = outcome { try Firestore.Decoder().decode(Everything.self, from: read, in: document) }
        #expect(stored == given)
        if !stored.hasPrefix("Everything(") { failures += 1 }
      }
      #expect(failures > data.count / 2 && failures < data.count)
    }
  }

  @Test("Stored fields use the key conversion, and of two colliding names the first wins")
  func convertedNames() async throws {
    struct Item: Codable {
      var oneTwo: Int
      var deepMap: [String: Int]
    }
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      let document = test.db.document("all/two")
      try await document.enqueueData(["oneTwo": 1, "one_two": 2, "deep_map": ["not_changed": 3]]).local
      let snapshot = try await document.getDocument(source: .cache)
      let decoder = Firestore.Decoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      let item = try snapshot.data(as: Item.self, decoder: decoder)
      #expect(item.oneTwo == 1 && item.deepMap == ["not_changed": 3])
      let given = try decoder.decode(Item.self, from: try #require(snapshot.data()))
      #expect(given.oneTwo == 1 && given.deepMap == ["not_changed": 3])
    }
  }

  @Test("Map keys, array elements and pending timestamps decode as requested")
  func containers() async throws {
    struct Names: Decodable {
      struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
      }
      var names: [String]
      var at: Timestamp?
      var times: [Int]

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        names = container.allKeys.map(\.stringValue)
        at = try container.decodeIfPresent(Timestamp.self, forKey: Key(stringValue: "at"))
        var list = try container.nestedUnkeyedContainer(forKey: Key(stringValue: "list"))
        times = []
        while !list.isAtEnd {
          if try list.decodeNil() { times.append(-1) } else { times.append(try list.decode(Int.self)) }
        }
      }
    }
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      let document = test.db.document("all/three")
      try await document.enqueueData(["list": [4, NSNull(), 6], "at": FieldValue.serverTimestamp()]).local
      let snapshot = try await document.getDocument(source: .cache)
      let names = try snapshot.data(as: Names.self)
      #expect(names.names == ["at", "list"] && names.times == [4, -1, 6] && names.at == nil)
      #expect(try snapshot.data(as: Names.self, with: .estimate).at != nil)
      #expect(try snapshot.data(as: Names.self, with: .previous).at == nil)
      try await document.enqueueData(["list": [Int](), "at": Timestamp(seconds: 3, nanoseconds: 0)]).local
      try await document.enqueueUpdate(["at": FieldValue.serverTimestamp()]).local
      let again = try await document.getDocument(source: .cache)
      #expect(try again.data(as: Names.self, with: .previous).at == Timestamp(seconds: 3, nanoseconds: 0))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth
import Testing

private struct City: Codable, Equatable {
  struct Mayor: Codable, Equatable {
    var name: String
    var since: Date?
  }

  @DocumentID var id: String?
  @ServerTimestamp var updated: Date?
  @ExplicitNull var motto: String?
  var name: String
  var population: Int
  var area: Double
  var isCapital: Bool
  var place: GeoPoint
  var founded: Timestamp
  var twin: DocumentReference?
  var embedding: VectorValue
  var photo: Data
  var page: URL
  var key: UUID
  var budget: Decimal
  var tags: [String]
  var mayors: [Mayor]
  var districts: [String: Int]
  var nickname: String?
}

/// Values written and read as `Codable` types.
@Suite(.timeLimit(.minutes(10)))
struct CodableTests {
  private func city(_ db: Firestore) -> City {
    City(
      id: nil, updated: nil, motto: nil, name: "San Francisco", population: 860_000, area: 121.4, isCapital: false,
      place: GeoPoint(latitude: 37.7, longitude: -122.4), founded: Timestamp(seconds: -6_100_000_000, nanoseconds: 0),
      twin: db.document("cities/OSA"), embedding: FieldValue.vector([1.0, 0.5]), photo: Data([0, 255]),
      page: URL(filePath: "/sf"), key: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
      budget: 14.25, tags: ["bay", "fog"],
      mayors: [City.Mayor(name: "Breed", since: Date(timeIntervalSince1970: 1_531_000_000))],
      districts: ["Mission": 9], nickname: nil)
  }

  @Test("A Codable value round-trips with its document id and server time")
  func roundTrip() async throws {
    try await TestDatabase.run { test async throws in
      let document = test.db.document("cities/SF")
      try await document.enqueueData(from: city(test.db)).acknowledged
      let snapshot = try await test.db.document("cities/SF").getDocument(source: .server)
      let read = try snapshot.data(as: City.self)
      var expected = city(test.db)
      expected.id = "SF"
      expected.updated = read.updated
      #expect(read == expected)
      #expect(read.updated != nil)

      let data = try #require(snapshot.data())
      #expect(data["id"] == nil)
      #expect(data["motto"] is NSNull)
      #expect(data["nickname"] == nil)
      #expect(data["updated"] is Timestamp)
      #expect(data["photo"] as? Data == Data([0, 255]))
      #expect(data["key"] as? String == "01020304-0506-0708-090A-0B0C0D0E0F10")
      #expect(data["twin"] as? DocumentReference == test.db.document("cities/OSA"))
      #expect(data["embedding"] as? VectorValue == FieldValue.vector([1.0, 0.5]))
      #expect((data["mayors"] as? [[String: Any]])?.first?["since"] is Timestamp)
    }
  }

  @Test("Every write method accepts Codable values, and every read method returns them")
  func waysToWriteAndRead() async throws {
    struct Item: Codable, Equatable, Sendable {
      @DocumentID var reference: DocumentReference?
      var count: Int
      var note: String?
    }
    try await TestDatabase.run { test async throws in
      let items = test.db.collection("items")
      let done = Events<FirestoreErrorCode.Code>()
      try items.document("a").setData(from: Item(count: 1), completion: done.completion)
      #expect(await done.next() == .OK)
      try items.document("a").setData(from: Item(count: 2, note: "n"), merge: true, completion: done.completion)
      #expect(await done.next() == .OK)
      let noted = Item(count: 9, note: "m")
      try items.document("a").setData(from: noted, mergeFields: ["note"], completion: done.completion)
      #expect(await done.next() == .OK)
      let a = try await items.document("a").getDocument(as: Item.self)
      #expect(a == Item(reference: items.document("a"), count: 2, note: "m"))

      let added = try items.addDocument(from: Item(count: 3), completion: done.completion)
      #expect(await done.next() == .OK)
      let (enqueued, write) = try items.enqueueDocument(from: Item(count: 4))
      try await write.acknowledged
      try await test.db.batch()
        .setData(from: Item(count: 5), forDocument: items.document("b"))
        .setData(from: Item(count: 6), forDocument: items.document("c"), merge: true)
        .setData(from: Item(count: 7, note: "only"), forDocument: items.document("d"), mergeFields: ["count"])
        .commit()
      try await test.db.runTransaction { transaction in
        let b = try await transaction.getDocument(items.document("b")).data(as: Item.self)
        try transaction.setData(from: Item(count: b.count + 10), forDocument: items.document("b"))
          .setData(from: Item(count: 8), forDocument: items.document("e"), merge: true)
          .setData(from: Item(count: 9, note: "x"), forDocument: items.document("f"), mergeFields: ["count"])
      }
      let result = try await items.order(by: "count").getDocuments(source: .server)
      let all = try result.documents.map { try $0.data(as: Item.self) }
      #expect(all.map(\.count) == [2, 3, 4, 6, 7, 8, 9, 15])
      #expect(all[1].reference == added)
      #expect(all[2].reference == enqueued)
      #expect(all[6].note == nil)

      let values = Events<Int?>()
      items.document("e").getDocument(as: Item.self) { values.send(try? $0.get().count) }
      #expect(await values.next() == 8)
      #expect(try await items.document("none").getDocument(as: Item?.self) == nil)
    }
  }

  @Test("Pending server timestamps read as nil, or as estimated on request")
  func pendingServerTimestamp() async throws {
    struct Visit: Codable {
      @ServerTimestamp var at: Timestamp?
    }
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      try await test.db.document("visits/v").enqueueData(from: Visit(at: nil)).local
      let snapshot = try await test.db.document("visits/v").getDocument(source: .cache)
      #expect(try snapshot.data(as: Visit.self).at == nil)
      #expect(try snapshot.data(as: Visit.self, with: .estimate).at != nil)

      let time = Timestamp(seconds: 5, nanoseconds: 0)
      try await test.db.document("visits/w").enqueueData(from: Visit(at: time)).local
      #expect(try await test.db.document("visits/w").getDocument(source: .cache).data(as: Visit.self).at == time)
    }
  }

  @Test("Missing fields are nil for optionals and wrappers, and errors otherwise")
  func absentFields() throws {
    struct Sparse: Codable, Equatable {
      var plain: Int?
      @ExplicitNull var null: Int?
      @ServerTimestamp var time: Date?
      var nested: [String: Int?]?
    }
    let decoder = Firestore.Decoder()
    let nothing = Sparse(plain: nil, null: nil, time: nil, nested: nil)
    #expect(try decoder.decode(Sparse.self, from: [String: Any]()) == nothing)
    let null = NSNull()
    let nulls: [String: Any] = ["plain": null, "null": null, "time": null, "nested": ["a": null, "b": 1]]
    #expect(
      try decoder.decode(Sparse.self, from: nulls)
        == Sparse(plain: nil, null: nil, time: nil, nested: ["a": nil, "b": 1]))
    let encoded = try Firestore.Encoder().encode(nothing)
    #expect(encoded.keys.sorted() == ["null", "time"])
    #expect(encoded["null"] is NSNull)
    #expect(encoded["time"] is FieldValue)
  }

  @Test("A decoding error names the coding path")
  func decodingErrors() {
    struct Inner: Decodable {
      struct Element: Decodable { var count: Int }
      var list: [Element]
    }
    struct Outer: Decodable {
      var name: String
      var since: Int8
      var inner: Inner?
    }
    let cases: [([String: Any], String)] = [
      (["name": "n", "since": 1, "inner": ["list": [["count": 1], ["count": "two"]]]], "inner.list.1.count"),
      (["name": NSNull(), "since": 1], "name"), (["name": 3, "since": 1], "name"), (["since": 1], "name"),
      (["name": "n", "since": 300], "since"), (["name": "n", "since": 1.5], "since"),
      (["name": "n", "since": true], "since"), (["name": "n", "since": 1, "inner": ["list": 4]], "inner.list"),
    ]
    for (data, path) in cases {
      #expect {
        _ = try Firestore.Decoder().decode(Outer.self, from: data)
      } throws: { error in
        switch error {
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
          DecodingError.dataCorrupted(let context):
          return context.codingPath.map(\.stringValue).joined(separator: ".") == path
            && context.debugDescription.contains("Field \(path) ")
        case DecodingError.keyNotFound(let key, let context):
          return key.stringValue == path && context.debugDescription.contains(path)
        default: return false
        }
      }
    }
  }

  @Test("Numbers decode into types that fit, and booleans are not numbers")
  func numbers() throws {
    let decoder = Firestore.Decoder()
    #expect(try decoder.decode(Int.self, from: NSNumber(value: 3.0)) == 3)
    #expect(try decoder.decode(Double.self, from: NSNumber(value: 3)) == 3)
    #expect(try decoder.decode(Float.self, from: 0.1) == Float(0.1))
    #expect(try decoder.decode(UInt64.self, from: Int64.max) == UInt64(Int64.max))
    #expect(try decoder.decode(Bool.self, from: true))
    #expect(try decoder.decode(Decimal.self, from: NSNumber(value: 0.1)) == Decimal(string: "0.1"))
    let digits = "12345678901234567890.1"
    #expect(try decoder.decode(Decimal.self, from: digits) == Decimal(string: digits))
    #expect(try decoder.decode([Int?].self, from: [1, NSNull()]) == [1, nil])
    for (value, type) in [(-1, UInt.self), (Int64.max, Int32.self)] as [(Int64, any Decodable.Type)] {
      #expect(throws: DecodingError.self) { try decoder.decode(type, from: value) }
    }
    #expect(throws: DecodingError.self) { try decoder.decode(Int.self, from: true) }
    #expect(throws: DecodingError.self) { try decoder.decode(Bool.self, from: 1) }
    #expect(throws: DecodingError.self) { try decoder.decode(Double.self, from: Double.nan) }
    #expect(throws: DecodingError.self) { try decoder.decode(Float.self, from: Int64.max) }
  }

  @Test("Dates are encoded and decoded with each strategy")
  func dateStrategies() throws {
    struct Event: Codable, Equatable { var at: Date }
    let event = Event(at: Date(timeIntervalSince1970: 1_700_000_000))
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "UTC")
    formatter.dateFormat = "yyyy/MM/dd HH:mm:ss"
    typealias Case = (Firestore.Encoder.DateEncodingStrategy, Firestore.Decoder.DateDecodingStrategy, any Sendable)
    let cases: [Case] = [
      (.timestamp, .timestamp, Timestamp(seconds: 1_700_000_000, nanoseconds: 0)),
      (.deferredToDate, .deferredToDate, event.at.timeIntervalSinceReferenceDate),
      (.deferredToDate, .timestamp, event.at.timeIntervalSinceReferenceDate),
      (.secondsSince1970, .secondsSince1970, 1_700_000_000.0),
      (.millisecondsSince1970, .timestamp(fallback: .millisecondsSince1970), 1_700_000_000_000.0),
      (.iso8601, .iso8601, "2023-11-14T22:13:20Z"),
      (.formatted(formatter), .formatted(formatter), "2023/11/14 22:13:20"),
      (
        .custom { date, encoder in try date.timeIntervalSince1970.description.encode(to: encoder) },
        .custom { Date(timeIntervalSince1970: Double(try String(from: $0)) ?? 0) }, "1700000000.0"
      ),
    ]
    for (encoding, decoding, stored) in cases {
      let (encoder, decoder) = (Firestore.Encoder(), Firestore.Decoder())
      encoder.dateEncodingStrategy = encoding
      decoder.dateDecodingStrategy = decoding
      let data = try encoder.encode(event)
      #expect(data["at"].map(AnyHashable.init(describing:)) == AnyHashable(describing: stored))
      #expect(try decoder.decode(Event.self, from: data) == event)
    }
    let strict = Firestore.Decoder()
    strict.dateDecodingStrategy = .iso8601
    #expect(throws: DecodingError.self) { try strict.decode(Event.self, from: ["at": "yesterday"]) }
    #expect(throws: DecodingError.self) { try strict.decode(Event.self, from: ["at": NSNull()]) }
  }

  @Test("Bytes, non-finite floats and keys are encoded and decoded with each strategy")
  func otherStrategies() throws {
    struct Reading: Codable, Equatable {
      var rawBytes: Data
      var peakValue: Double
    }
    let reading = Reading(rawBytes: Data([1, 2]), peakValue: .infinity)
    let (encoder, decoder) = (Firestore.Encoder(), Firestore.Decoder())
    #expect(throws: EncodingError.self) { try encoder.encode(reading) }
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "+", negativeInfinity: "-", nan: "?")
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "+", negativeInfinity: "-", nan: "?")
    encoder.keyEncodingStrategy = .convertToSnakeCase
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    encoder.dataEncodingStrategy = .base64
    decoder.dataDecodingStrategy = .base64
    var data = try encoder.encode(reading)
    #expect(data["raw_bytes"] as? String == "AQI=")
    #expect(data["peak_value"] as? String == "+")
    #expect(try decoder.decode(Reading.self, from: data) == reading)

    encoder.dataEncodingStrategy = .deferredToData
    decoder.dataDecodingStrategy = .deferredToData
    encoder.keyEncodingStrategy = .custom { path in Key(name: "x_" + (path.last?.stringValue ?? "")) }
    decoder.keyDecodingStrategy = .custom { path in Key(name: String(path.last?.stringValue.dropFirst(2) ?? "")) }
    data = try encoder.encode(reading)
    #expect(data["x_rawBytes"] as? [UInt8] == [1, 2])
    #expect(try decoder.decode(Reading.self, from: data) == reading)

    // Keys of dictionaries are data: strategies leave them alone, and look at what lies below.
    struct Log: Codable, Equatable {
      struct Entry: Codable, Equatable { var entryCount: Int }
      var byName: [String: Entry]
      var byNumber: [Int: String]
    }
    let log = Log(byName: ["aName": Log.Entry(entryCount: 1), "a_name": Log.Entry(entryCount: 2)], byNumber: [7: "x"])
    encoder.keyEncodingStrategy = .convertToSnakeCase
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    data = try encoder.encode(log)
    let byName = try #require(data["by_name"] as? [String: [String: Any]])
    #expect(byName["aName"]?["entry_count"] as? Int == 1)
    #expect(byName["a_name"]?["entry_count"] as? Int == 2)
    #expect(data["by_number"] as? [String: String] == ["7": "x"])
    #expect(try decoder.decode(Log.self, from: data) == log)
  }

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  @Test("Enums, superclasses and nested containers round-trip")
  func containers() throws {
    enum Shape: Codable, Equatable {
      case circle(radius: Double)
      case unit
    }
    class Base: Codable {
      var kind = "base"
    }
    final class Derived: Base {
      var shapes: [Shape] = [.circle(radius: 2), .unit]
      private enum CodingKeys: String, CodingKey { case shapes, pair }
      override init() { super.init() }
      required init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        shapes = try container.decode([Shape].self, forKey: .shapes)
        var pair = try container.nestedUnkeyedContainer(forKey: .pair)
        #expect(try pair.decode(Int.self) == 1)
        #expect(try pair.decodeNil())
        #expect(pair.isAtEnd)
        #expect(throws: DecodingError.self) { try pair.decode(Int.self) }
        try super.init(from: try container.superDecoder())
      }
      override func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(shapes, forKey: .shapes)
        var pair = container.nestedUnkeyedContainer(forKey: .pair)
        try pair.encode(1)
        try pair.encodeNil()
        try super.encode(to: container.superEncoder())
      }
    }
    let value = Derived()
    value.kind = "derived"
    let data = try Firestore.Encoder().encode(value)
    #expect((data["super"] as? [String: Any])?["kind"] as? String == "derived")
    let read = try Firestore.Decoder().decode(Derived.self, from: data)
    #expect(read.kind == "derived")
    #expect(read.shapes == [.circle(radius: 2), .unit])
  }

  @Test("Invalid values fail with the field's name, and a document must be a map")
  func encodingErrors() async throws {
    struct Matrix: Encodable { var rows = [[1, 2], [3]] }
    #expect(throws: EncodingError.self) { try Firestore.Encoder().encode([1, 2]) }
    #expect(throws: EncodingError.self) { try Firestore.Encoder().encode("text") }
    try await TestDatabase.run { test async throws in
      #expect { _ = try test.db.document("m/m").enqueueData(from: Matrix()) } throws: { error in
        code(of: error) == .invalidArgument && "\(error)".contains("rows")
      }
    }
  }

  @Test("Invalid document ids are errors, and other coders reject Firestore types")
  func unsupported() async throws {
    struct Named: Codable { @DocumentID var id: String? }
    struct Linked: Codable { var link: DocumentReference }
    struct Stamped: Codable { @ServerTimestamp var at: Date? }
    try await TestDatabase.run { test async throws in
      let document = test.db.document("cities/SF")
      #expect { _ = try Firestore.Decoder().decode(Named.self, from: ["id": "x"], in: document) } throws: { error in
        guard case FirestoreDecodingError.fieldNameConflict(let text) = error else { return false }
        return text.contains("id")
      }
      #expect(throws: FirestoreDecodingError.self) {
        try Firestore.Decoder().decode(Named.self, from: [String: Any]())
      }
      #expect(throws: FirestoreEncodingError.self) { try JSONEncoder().encode(Linked(link: document)) }
      #expect(throws: FirestoreEncodingError.self) { try JSONEncoder().encode(Stamped(at: nil)) }
      #expect(throws: FirestoreDecodingError.self) {
        try JSONDecoder().decode(Linked.self, from: Data(#"{"link": "cities/SF"}"#.utf8))
      }
    }
    let place = GeoPoint(latitude: 1, longitude: 2)
    #expect(try JSONDecoder().decode(GeoPoint.self, from: JSONEncoder().encode(place)) == place)
    let time = Timestamp(seconds: 1, nanoseconds: 2)
    #expect(try JSONDecoder().decode(Timestamp.self, from: JSONEncoder().encode(time)) == time)
    let vector = FieldValue.vector([1.0])
    #expect(try JSONDecoder().decode(VectorValue.self, from: JSONEncoder().encode(vector)) == vector)
  }
}

extension AnyHashable {
  fileprivate init(describing value: Any) { self = (value as? AnyHashable) ?? AnyHashable("\(value)") }
}

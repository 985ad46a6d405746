// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import SeededRandom
import Testing

/// A value inside this many maps.
private func nested(_ levels: Int, _ value: Value = .null) -> Value {
  (0..<levels).reduce(value) { inner, _ in .map(["m": inner]) }
}

@Suite("Write validation")
struct WriteValidationTests {
  @Test(
    "Invalid data is rejected with the field and the reason (PROTOCOL §3.2)",
    arguments: [
      (["": .null], "A field's name is empty."), (["m": .map(["": .null])], "A field's name is empty in \"m\"."),
      (["__x__": .null], "reserved"),
      (["a": .map(["__type__": .null])], "\"a.__type__\""),
      ([String(repeating: "x", count: 1501): .null], "longer than 1500"),
      (["a": .array([.array([])])], "must not contain an array"), (["a": .array([.vector([1])])], "contain a vector"),
      (["a": .vector([])], "must not be empty"), (["a": .vector(Array(repeating: 0, count: 2049))], "2048 dimensions"),
      (["a": .geoPoint(GeoPoint(latitude: 90.1, longitude: 0))], "latitude 90.1"),
      (["a": .geoPoint(GeoPoint(latitude: 0, longitude: .nan))], "longitude nan"),
      (["a": .timestamp(Timestamp(seconds: 253_402_300_800))], "years 1 to 9999"),
      (["a": nested(21)], "nested more than 20"), (["a": nested(20, .array([]))], "nested more than 20"),
      (["a": .reference(database, DocumentKey(unchecked: ResourcePath("c//d/e")))], "\"//\""),
      (["a": .serverTimestamp(ServerTimestamp(localWriteTime: Timestamp(seconds: 0), previous: nil))], "transform"),
    ] as [(Fields, String)])
  func refused(fields: Fields, reason: String) throws {
    let error = try #require(throws: ModelError.self) { try fields.validateForWrite() }

    #expect(error.code == .invalidArgument)
    #expect(error.message.contains(reason), "\(error)")
    #expect(error.message.utf8.count < 400)
  }

  /// No arguments of a test: these are described, byte by byte.
  @Test("A value at the size limit is accepted, and one byte more is rejected")
  func sizeOfValue() throws {
    let longest = String(repeating: "x", count: 1_048_487)
    try accepted(fields: ["a": .string(longest)])
    try refused(fields: ["a": .string(longest + "x")], reason: "longer than 1048487")
    try refused(fields: ["a": .bytes(Array(repeating: 0, count: 1_048_488))], reason: "longer than 1048487")
  }

  @Test(
    "Data at the limits of depth, names, vectors and coordinates is accepted",
    arguments: [
      ["a": nested(20)], ["a": nested(19, .array([.null]))],
      ["__": .null, "____": .null, "1": .null, "a.b": .null, "`": .null],
      ["a": .vector(Array(repeating: 0, count: 2048))], ["a": .geoPoint(GeoPoint(latitude: -90, longitude: 180))],
      ["a": .array([.map(["b": .array([])])])],
    ] as [Fields])
  func accepted(fields: Fields) throws {
    try fields.validateForWrite()
  }

  @Test("A write's path, mask, transforms and size are validated")
  func mutations() throws {
    func mutation(
      _ path: String = "c/d", _ operation: Mutation.Operation = .set([:]), _ transforms: [FieldTransform] = []
    ) -> Mutation {
      Mutation(key: DocumentKey(unchecked: ResourcePath(path)), operation: operation, transforms: transforms)
    }
    func increment(_ name: String, by operand: Value = .integer(1)) -> FieldTransform {
      FieldTransform(path: FieldPath(name), operation: .increment(operand))
    }
    let half = Value.string(String(repeating: "x", count: 600_000))

    try mutation().validateForWrite()
    try mutation("c/d", .patch([:], FieldMask([FieldPath("a")])), [increment("n")]).validateForWrite()
    for (refused, reason) in [
      (mutation("c/__d__"), "reserved"), (mutation("c/d", .set(["a": half, "b": half])), "exceeds the maximum"),
      (mutation("c/d", .patch([:], FieldMask([.documentID]))), "__name__"),
      (mutation("c/d", .patch([:], FieldMask([FieldPath("__x__")]))), "reserved"),
      (mutation("c/d", .set([:]), [increment("n", by: .string("1"))]), "integer or a double"),
      (mutation("c/d", .set([:]), Array(repeating: increment("n"), count: 501)), "501 transforms"),
    ] {
      let error = try #require(throws: ModelError.self) { try refused.validateForWrite() }
      #expect(error.message.contains(reason), "\(error)")
    }
  }

  @Test("Sizes match Firestore's published formula (PROTOCOL §3.10)")
  func sizes() {
    let reference = Value.reference(database, DocumentKey(unchecked: ResourcePath("c/dd")))
    let fields: Fields = [
      "type": .string("Personal"), "done": .boolean(false), "priority": .integer(1),
      "description": .string("Learn Cloud Firestore"),
    ]
    // The example of the documentation on storage size: users/jeff/tasks/my_task_id, 147 bytes.
    let document = Document(
      key: DocumentKey(unchecked: ResourcePath("users/jeff/tasks/my_task_id")), version: nil,
      state: .found(DocumentData(fields)))

    #expect(document.key.byteSize == 44)
    #expect(fields.byteSize == 71)
    #expect(document.byteSize == 147)
    #expect(reference.byteSize == 16 + 2 + 3)
    #expect(Value.array([.null, .geoPoint(GeoPoint(latitude: 0, longitude: 0)), .bytes([1, 2])]).byteSize == 19)
    #expect(Value.vector([1, 2]).byteSize == Value.map(["value": .array([.double(1), .double(2)])]).byteSize + 9 + 11)
  }
}

@Suite("Timestamps as text")
struct TimestampTextTests {
  @Test(
    "RFC 3339 output is in UTC with as many fraction digits as needed",
    arguments: [
      (0, 0, "1970-01-01T00:00:00Z"), (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
      (951_782_400, 120_000_000, "2000-02-29T00:00:00.120Z"), (4_107_542_400, 5000, "2100-03-01T00:00:00.000005Z"),
      (-62_135_596_800, 0, "0001-01-01T00:00:00Z"), (253_402_300_799, 0, "9999-12-31T23:59:59Z"),
    ] as [(Int64, Int32, String)])
  func writing(seconds: Int64, nanoseconds: Int32, text: String) {
    let timestamp = Timestamp(seconds: seconds, nanoseconds: nanoseconds)

    #expect(timestamp.rfc3339Text == text)
    #expect(Timestamp(rfc3339: text) == timestamp)
  }

  @Test("Every timestamp round-trips through text", arguments: 0..<200 as Range<UInt64>)
  func roundTrip(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let timestamp = random.timestamp()
    #expect(Timestamp(rfc3339: timestamp.rfc3339Text) == timestamp, "seed \(seed)")
  }

  @Test(
    "Invalid timestamps are rejected",
    arguments: [
      "", "2026-03-02", "2026-03-02T11:58:03", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
      "2026-06-30T23:59:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.0000000001Z", "2026-01-01T00:00:00+1:00",
      "2026-01-01T00:00:00Zx", "0000-01-01T00:00:00Z", "+026-01-01T00:00:00Z",
    ])
  func refused(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }
}

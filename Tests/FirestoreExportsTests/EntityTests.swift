// SPDX-License-Identifier: Apache-2.0
import FirestoreExports
import FirestoreModel
import FirestoreTesting
import SeededRandom
import Testing

private let home = DatabaseID(project: "sample")

private func reference(_ path: String, _ database: DatabaseID = home) -> Value { .reference(database, key(path)) }

/// What `types/all` held at the emulator.
private let allTypes: Fields = [
  "null": .null, "t": .boolean(true), "f": .boolean(false), "i0": .integer(0), "i": .integer(42), "neg": .integer(-7),
  "imax": .integer(.max), "imin": .integer(.min), "d": .double(1.5), "d0": .double(0), "dneg0": .double(-0.0),
  "nan": .double(.nan), "inf": .double(.infinity), "ninf": .double(-.infinity), "s": .string("héllo 😀"),
  "s0": .string(""), "nul": .string("a\0b"), "b": .bytes([0, 0xff, 1]), "b0": .bytes([]),
  "ts": .timestamp(Timestamp(microseconds: 1_709_208_001_123_456)), "told": .timestamp(.earliest),
  "tmax": .timestamp(Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_000)),
  "tpre": .timestamp(Timestamp(microseconds: -500_000)), "geo": .geoPoint(GeoPoint(latitude: 12.5, longitude: -70.25)),
  "geo0": .geoPoint(GeoPoint(latitude: 0, longitude: 0)), "ref": reference("c/x/d/y"),
  "ref2": reference("c/z", DatabaseID(project: "sample", database: "otherdb")), "a0": .array([]),
  "a": .array([
    .integer(1), .string("two"), .null, .map(["k": .array([.integer(1), .map(["z": .integer(2)])])]),
    .bytes(Array("q".utf8)), .double(1), .geoPoint(GeoPoint(latitude: 1, longitude: 2)), reference("a/b"),
    .timestamp(Timestamp(seconds: 1_704_067_200)),
  ]), "am": .array([.map([:]), .map([:])]), "asingle": .array([.integer(1)]), "a1m": .array([.map(["a": .array([])])]),
  "m0": .map([:]),
  "m": .map(["a": .integer(1), "b": .map(["c": .map(["d": .array([.integer(1), .integer(2), .map([:])])])])]),
  "v": .vector([1, 2, 3.5]), "v1": .vector([0]),
]

@Suite("Documents as entities")
struct EntityTests {
  @Test("Google's emulator exports are read with every type, name and id")
  func emulator() throws {
    let found = try documents(EmulatorExport.all)

    #expect(found["types/all"] == allTypes)
    for (name, value) in allTypes.entries { #expect(found["one/" + name] == ["v": value], "\(name)") }
    #expect(found["types/empty"] == [:])
    #expect(
      found["types/names"] == [
        "with space": .integer(1), "with.dot": .integer(2), "`tick`": .integer(3), "ü": .integer(4),
        "a/b": .integer(5), "0": .integer(6), "back\\slash": .integer(7), "n\nl": .integer(8),
      ])
    let ids = [
      "a b", "ü😀", ".a", "a.b", "x%2Fy", "\"q\"", "__id7__", "7", "-", "~", "*", "a\nb", "__id-9223372036854775808__",
      "__id9223372036854775807__", "__id-5__", "__a", "a__",
    ]
    for id in ids { #expect(found["ids/" + id] == ["id": .string(id)], "\(id)") }
    #expect(found["missing/m1/sub/s2/deep/d1"] == ["x": .integer(2)])
    #expect(found["missing/m1"] == nil)
  }

  @Test("Documents and references keep the database that the export names")
  func database() throws {
    var reader = try ExportReader(EmulatorExport.folder + "/second")
    let document = try #require(try reader.next()).document()

    let second = DatabaseID(project: "p2", database: "second")
    #expect(document.database == second)
    #expect(
      document.fields == ["r": reference("q/w", second), "d": reference("q/w", DatabaseID(project: "p2"))])
    #expect(try reader.next() == nil)
  }

  @Test("Written records have the emulator's size and bytes, apart from their order")
  func sameSizes() throws {
    for record in try records(try bytes(of: EmulatorExport.output)) {
      let document = try EntityReader.document(record)

      let written = try EntityWriter(document.database).record(document.key, document.fields)

      #expect(written.count == record.count, "\(document.key)")
      #expect(written.sorted() == record.sorted(), "\(document.key)")
    }
  }

  @Test("Random documents round-trip through export records")
  func roundTrip() throws {
    var random = SeededGenerator(seed: 72)
    var count = 0

    for _ in 0..<3_000 {
      let (key, fields) = (random.key(), random.fields(depth: 4))
      guard let record = try? EntityWriter(home).record(key, fields) else { continue }
      let document = try EntityReader.document(record)
      #expect(document.database == home)
      #expect(document.key == key)
      #expect(document.fields == fields.inMicroseconds)
      count += 1
    }

    #expect(count > 1_500)
  }

  @Test(
    "A numeric id is distinguished from a string id that looks like it",
    arguments: ["__id07__", "__id0__", "__id+7__", "__id__"])
  func numericIDs(id: String) throws {
    let record = try EntityWriter(home).record(key("c/" + id), [:])

    #expect(
      record.count
        == (try EntityWriter(home).record(key("c/" + String(repeating: "x", count: id.utf8.count)), [:])).count)
  }

  @Test(
    "A value that no document may contain is rejected with its field",
    arguments: [
      (Value.array([.array([])]), "an array contains an array."),
      (.array([.vector([1])]), "an array contains a vector."),
      (.vector([]), "a vector is empty."),
      (.map(["x": .array([.array([])])]), "in the field \"x\" an array contains an array."),
    ])
  func refused(value: Value, reason: String) {
    #expect(throws: EntityFault("c/d cannot be exported: in the field \"f\" \(reason)")) {
      try EntityWriter(home).record(key("c/d"), ["f": value])
    }
  }

  @Test("Deeply nested export records are rejected before the stack overflows")
  func depth() throws {
    let deep = (0..<200).reduce(Value.integer(1)) { value, _ in .map(["m": value]) }
    let record = try EntityWriter(home).record(key("c/d"), ["m": deep])

    #expect(throws: EntityFault("This is not a document: values are nested more than 64 levels deep.")) {
      try EntityReader.document(record)
    }
  }

  @Test("10,000 damaged records are read or rejected without a crash")
  func mutations() throws {
    var random = SeededGenerator(seed: 73)
    let originals = try records(try bytes(of: EmulatorExport.output))
    var failures = 0

    for _ in 0..<10_000 {
      var bytes = random.pick(originals)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.insert(contentsOf: bytes[place...].prefix(8), at: place)
        case 2: if bytes.count > 1 { bytes.remove(at: place) }
        default: bytes[place] = random.pick([0, 0x7f, 0x80, 0xff])
        }
      }
      do {
        let document = try EntityReader.document(bytes)
        #expect(document.key.path.isDocument)
      } catch { failures += 1 }
    }

    #expect((2_000..<10_000).contains(failures))
  }
}

extension Fields {
  /// As far as exports keep times.
  fileprivate var inMicroseconds: Fields { Fields(entries.map { ($0.name, $0.value.inMicroseconds) }) }
}

extension Value {
  fileprivate var inMicroseconds: Value {
    switch self {
    case .timestamp(let time): .timestamp(Timestamp(microseconds: time.microseconds))
    case .array(let values): .array(values.map(\.inMicroseconds))
    case .map(let fields): .map(fields.inMicroseconds)
    default: self
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import SeededRandom
import Testing

@Suite("Encoded fields")
struct EncodingTests {
  @Test("Encoded fields equal the protobuf message's bytes")
  func wireBytes() {
    let fields: Fields = [
      "b": .integer(1), "a": .map(["x": .null]), "v": .vector([1]), "t": .timestamp(Timestamp(seconds: 1)),
    ]

    #expect(
      EncodedFields(fields).bytes == [
        0x12, 0x10, 0x0a, 1, 0x61, 0x12, 11, 0x32, 9, 0x0a, 7, 0x0a, 1, 0x78, 0x12, 2, 0x58, 0,
        0x12, 0x07, 0x0a, 1, 0x62, 0x12, 2, 0x10, 1,
        0x12, 0x09, 0x0a, 1, 0x74, 0x12, 4, 0x52, 2, 0x08, 1,
        0x12, 58, 0x0a, 1, 0x76, 0x12, 53, 0x32, 51,
        0x0a, 25, 0x0a, 8, 0x5f, 0x5f, 0x74, 0x79, 0x70, 0x65, 0x5f, 0x5f, 0x12, 13, 0x8a, 0x01, 10,
        0x5f, 0x5f, 0x76, 0x65, 0x63, 0x74, 0x6f, 0x72, 0x5f, 0x5f,
        0x0a, 22, 0x0a, 5, 0x76, 0x61, 0x6c, 0x75, 0x65, 0x12, 13, 0x4a, 11, 0x0a, 9, 0x19, 0, 0, 0, 0, 0, 0, 0xf0,
        0x3f,
      ])
  }

  @Test(
    "Encoded fields round-trip, and equal fields have equal bytes", arguments: 0..<300 as Range<UInt64>
  )
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let fields = random.fields()
    let encoded = EncodedFields(fields)

    #expect(encoded.decoded() == fields, "seed \(seed)")
    #expect(try EncodedFields(validating: encoded.bytes) == encoded, "seed \(seed)")
    #expect(DocumentData(encoded: encoded) == DocumentData(fields))
    #expect(EncodedFields(Fields(fields.entries.shuffled(using: &random))).bytes == encoded.bytes)
  }

  @Test(
    "A field lookup in encoded bytes equals the lookup in the decoded map", arguments: 0..<300 as Range<UInt64>)
  func lookup(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let fields = random.fields()
    let encoded = EncodedFields(fields)

    for path in paths(of: fields) + [FieldPath("absent"), FieldPath(segments: ["absent", "x"])] {
      #expect(encoded[path] == fields[path], "seed \(seed): \(path)")
      let other = random.value()
      #expect(encoded.compare(path, with: other) == fields[path]?.compare(other), "seed \(seed): \(path), \(other)")
      if let value = fields[path] { #expect(encoded.compare(path, with: value) == .equal) }
    }
  }

  /// All paths to something, and from each value one step further, where nothing is.
  private func paths(of fields: Fields, below parent: [String] = []) -> [FieldPath] {
    fields.entries.flatMap { name, value in
      let path = parent + [name]
      var paths = [FieldPath(segments: path), FieldPath(segments: path + ["absent"])]
      if case .map(let inner) = value { paths += self.paths(of: inner, below: path) }
      return paths
    }
  }

  @Test("The parts of a vector or server timestamp cannot be read as fields")
  func typedMaps() {
    let estimate = ServerTimestamp(localWriteTime: Timestamp(seconds: 1, nanoseconds: 5), previous: .string("was"))
    let fields: Fields = ["v": .vector([1]), "s": .serverTimestamp(estimate)]
    let encoded = EncodedFields(fields)

    #expect(encoded.decoded() == fields)
    #expect(encoded[FieldPath(segments: ["v", "value"])] == nil)
    #expect(encoded[FieldPath(segments: ["s", "__previous_value__"])] == nil)
    guard case .serverTimestamp(let read)? = encoded[FieldPath("s")] else {
      Issue.record("the estimate was lost")
      return
    }
    #expect(read.previous == .string("was"))
  }

  @Test(
    "A map that only resembles a vector is decoded as a map",
    arguments: [
      ["__type__": .string("__vector__"), "value": .array([.integer(1)])],
      ["__type__": .string("__vector__"), "value": .array([.double(1)]), "x": .null],
      ["__type__": .string("other")], ["__type__": .string("__vector__")],
    ] as [Fields])
  func resemblances(fields: Fields) {
    #expect(EncodedFields(["m": .map(fields)]).decoded() == ["m": .map(fields)])
  }

  @Test(
    "Validating damaged field bytes rejects them or makes them canonical",
    arguments: 0..<60 as Range<UInt64>)
  func garbage(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var bytes = EncodedFields(random.fields()).bytes
    for _ in 0..<20 {
      if bytes.isEmpty { bytes = [0x12] }
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes.removeLast(Int.random(in: 0...min(3, bytes.count), using: &random))
      case 1:
        bytes.insert(random.pick([0, 0x12, 0x7f, 0x80, 0xff]), at: Int.random(in: 0...bytes.count, using: &random))
      default: bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      check(bytes, "seed \(seed)")
    }
    check((0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }, "seed \(seed)")
  }

  private func check(_ bytes: [UInt8], _ comment: Comment) {
    let trusted = EncodedFields(trusted: bytes)
    for entry in trusted.decoded().entries {
      _ = trusted[FieldPath(entry.name)]
      _ = trusted.compare(FieldPath(segments: [entry.name, "x"]), with: .null)
    }
    _ = trusted.compare(FieldPath("a"), with: .string("x"))
    guard let valid = try? EncodedFields(validating: bytes) else { return }
    #expect(EncodedFields(valid.decoded()) == valid, comment)
  }

  @Test("Values nested too deeply are rejected without a crash")
  func nesting() {
    var value: [UInt8] = [0x58, 0]
    for _ in 0..<10_000 {
      var writer = WireWriter()
      writer.field(9) { $0.field(1, bytes: value) }
      value = writer.bytes
      if value.count > 60_000 { break }
    }
    var writer = WireWriter()
    writer.field(2) { writer in
      writer.field(1, string: "a")
      writer.field(2, bytes: value)
    }

    #expect(throws: ModelError.self) { try EncodedFields(validating: writer.bytes) }
    #expect(EncodedFields(trusted: writer.bytes)[FieldPath("a")] == nil)
  }

  @Test(
    "Invalid UTF-8 is rejected, and valid UTF-8 is stored unchanged",
    arguments: [
      ([0x61, 0xff], false), ([0xc3], false), ([0xed, 0xa0, 0x80], false), ([0xc0, 0x80], false),
      ([0x65, 0xcc, 0x81], true), ([0xf0, 0x9f, 0x90, 0xb5], true), ([0x00], true),
    ] as [([UInt8], Bool)])
  func utf8(text: [UInt8], isValid: Bool) {
    var writer = WireWriter()
    writer.field(2) { writer in
      writer.field(1, string: "a")
      writer.field(2) { $0.field(17, bytes: text) }
    }

    let read = try? EncodedFields(validating: writer.bytes)
    #expect((read != nil) == isValid)
    guard isValid, case .string(let value)? = read?[FieldPath("a")] else { return }
    #expect(Array(value.utf8) == text)
  }

  @Test("Unknown field numbers are skipped, and the last of duplicate fields wins")
  func leniency() throws {
    var writer = WireWriter()
    writer.field(1, string: "name")
    for number in 1...2 as ClosedRange<Int64> {
      writer.field(2) { writer in
        writer.field(2) { $0.field(2, integer: number) }
        writer.field(1, string: "a")
        writer.field(9, varint: 300)
      }
    }

    #expect(try EncodedFields(validating: writer.bytes).decoded() == ["a": .integer(2)])
  }
}

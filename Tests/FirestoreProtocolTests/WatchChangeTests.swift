// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import SeededRandom
import SwiftProtobuf
import Testing
import WireOracle

@Suite("Watch changes from other servers, and damaged watch changes")
struct WatchChangeTests {
  private let names = DocumentNames(Samples.database)

  private func read(_ bytes: [UInt8]) throws(WireError) -> WatchChange? {
    try WireReader.read(bytes) { reader throws(WireError) in try reader.watchChange(names) }
  }

  @Test("Unknown fields, unpacked numbers and any field order are read")
  func leniency() throws {
    var writer = WireWriter()
    writer.field(99, string: "from the future")
    writer.field(2) { writer in
      writer.field(77, double: 1)
      writer.field(2, integer: 4)
      writer.field(2, integer: 6)
      writer.field(1, varint: 3)
    }
    guard case .current(let ids, nil)? = try read(writer.bytes) else {
      Issue.record("not read as a target that is current")
      return
    }
    #expect(ids == [TargetID(4), TargetID(6)])
    var unknown = WireWriter()
    unknown.field(2) { $0.field(1, varint: 9) }
    #expect(try read(unknown.bytes) == nil)
    #expect(try read([]) == nil)
  }

  @Test("Unordered and duplicate fields are stored sorted, and the last duplicate wins")
  func canonicalFields() throws {
    let message = Wire.ListenResponse.with { message in
      message.documentChange.document = .with { document in
        document.name = Samples.database.name(of: Samples.key)
        document.updateTime = Samples.version.message
        document.fields = [("b", 1), ("a", 2), ("b", 3)].map { name, number in
          .with { ($0.name, $0.value) = (name, Value.integer(number).message) }
        }
      }
    }
    guard case .document(let document, _, _)? = try read(message.serializedBytes()) else {
      Issue.record("not read as a document")
      return
    }
    #expect(document.data?.encoded == EncodedFields(["a": .integer(2), "b": .integer(3)]))
  }

  @Test("A document without a name or version, or from another database, is rejected")
  func malformedDocuments() throws {
    let complete = Samples.document.message(in: Samples.database)
    var withoutName = complete
    withoutName.name = ""
    var withoutVersion = complete
    withoutVersion.clearUpdateTime()
    var foreign = complete
    foreign.name = "projects/other/databases/(default)/documents/a/b"
    var collection = complete
    collection.name = "projects/p/databases/(default)/documents/a"
    for document in [withoutName, withoutVersion, foreign, collection] {
      let message = Wire.ListenResponse.with { $0.documentChange.document = document }
      let bytes: [UInt8] = try message.serializedBytes()
      #expect(throws: WireError.self) { try read(bytes) }
    }
  }

  @Test("10,000 damaged messages are read or rejected without a crash")
  func damage() throws {
    var random = SeededGenerator(seed: 0x5eed)
    let originals = Samples.changes.map { change in
      WireWriter.message { $0.watchChange(change, names, readTime: Samples.version) }
    }
    var refused = 0
    for _ in 0..<10_000 {
      var bytes = originals.randomElement(using: &random) ?? []
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
      case 1:
        bytes = (0..<Int.random(in: 0..<64, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random)
        }
      case 2:
        for _ in 0..<3 {
          bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
      default:
        bytes.insert(.random(in: .min ... .max, using: &random), at: Int.random(in: bytes.indices, using: &random))
      }
      do throws(WireError) { _ = try read(bytes) } catch { refused += 1 }
    }
    #expect(refused > 1000)
  }
}

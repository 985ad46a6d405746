// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRemote
import FirestoreWire
import GRPCCore
import SeededRandom
import SwiftProtobuf
import Testing

@Suite("Messages read and written by hand")
struct CodecTests {
  private let names = DocumentNames(Samples.database)

  private func read(_ bytes: [UInt8]) throws -> WatchChange? {
    let names = names
    return try WireDecoder { reader throws(WireError) in try reader.watchChange(names) }.deserialize(bytes)
  }

  private func written(_ change: WatchChange, readTime: SnapshotVersion? = nil) -> [UInt8] {
    var writer = WireWriter()
    writer.watchChange(change, names, readTime: readTime)
    return writer.bytes
  }

  @Test("What is written by hand reads as the generated message says", arguments: Samples.changes.indices)
  func writer(_ index: Int) throws {
    let change = Samples.changes[index]
    let message = try Wire.ListenResponse(serializedBytes: written(change, readTime: Samples.version))
    // As bytes: a NaN is not equal to itself.
    let expected = change.message(in: Samples.database, readTime: Samples.version)
    #expect(try message.serializedBytes() as [UInt8] == expected.serializedBytes())
    let received = try #require(try WatchChange(message, in: Samples.database))
    #expect(written(received) == written(change))
  }

  @Test("What the generated message writes reads by hand as the same change", arguments: Samples.changes.indices)
  func reader(_ index: Int) throws {
    let change = Samples.changes[index]
    let bytes: [UInt8] = try change.message(in: Samples.database, readTime: Samples.version).serializedBytes()
    #expect(written(try #require(try read(bytes))) == written(change))
  }

  @Test("Unknown fields, unpacked numbers and fields in any order are read; unknown kinds are passed over")
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

  @Test("A document whose fields come in any order and twice is stored sorted, the last of each name")
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

  @Test("A document without a name or version, or from elsewhere, ends the call as internal")
  func malformedDocuments() throws {
    let complete = Samples.document.message(in: Samples.database)
    var withoutName = try #require(complete)
    withoutName.name = ""
    var withoutVersion = try #require(complete)
    withoutVersion.clearUpdateTime()
    var foreign = try #require(complete)
    foreign.name = "projects/other/databases/(default)/documents/a/b"
    var collection = try #require(complete)
    collection.name = "projects/p/databases/(default)/documents/a"
    for document in [withoutName, withoutVersion, foreign, collection] {
      let message = Wire.ListenResponse.with { $0.documentChange.document = document }
      let bytes: [UInt8] = try message.serializedBytes()
      let error = #expect(throws: RPCError.self) { try read(bytes) }
      #expect(error?.code == .internalError)
    }
  }

  @Test("Ten thousand damaged messages are read or refused, and nothing else happens")
  func damage() throws {
    var random = SeededGenerator(seed: 0x5eed)
    let originals = Samples.changes.map { written($0, readTime: Samples.version) }
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
      do { _ = try read(bytes) } catch let error as RPCError {
        #expect(error.code == .internalError)
        refused += 1
      }
    }
    #expect(refused > 1000)
  }

  @Test("Answers to reads are the generated messages'")
  func readResponses() throws {
    let names = names
    let missing = Document(key: Samples.key, version: Samples.version, state: .missing)
    for document in [Samples.document, missing] {
      let response = ReadResponse(document: document, transaction: [7], readTime: Samples.version)
      var writer = WireWriter()
      writer.batchGetResponse(response, names)
      let message = try Google_Firestore_V1_BatchGetDocumentsResponse(serializedBytes: writer.bytes)
      let decoder = WireDecoder { reader throws(WireError) in try reader.batchGetResponse(names) }
      let read = try decoder.deserialize(try message.serializedBytes() as [UInt8])
      #expect(read.document == document)
      #expect(read.transaction == [7])
      #expect(read.readTime == Samples.version)
    }
    var writer = WireWriter()
    writer.runQueryResponse(ReadResponse(document: Samples.document, readTime: Samples.version), names)
    let message = try Google_Firestore_V1_RunQueryResponse(serializedBytes: writer.bytes)
    let decoder = WireDecoder { reader throws(WireError) in try reader.runQueryResponse(names) }
    #expect(try decoder.deserialize(try message.serializedBytes() as [UInt8]).document == Samples.document)
  }
}

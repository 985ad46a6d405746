// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import SeededRandom
import Testing

@testable import FirestoreEmulator

@Suite("Server reflection")
struct ReflectionTests {
  private func request(_ field: Int, _ text: String) -> [UInt8] {
    WireWriter.message { writer in
      writer.field(1, string: "host")
      writer.field(field, string: text)
    }
  }

  /// The number of the answer, and its parts in field 1.
  private func answer(_ request: [UInt8]) throws -> (kind: Int, parts: [[UInt8]]) {
    let message = try ReflectionAnswer(to: request).message
    return try WireReader.read(message) { reader throws(WireError) in
      var (kind, parts) = (0, [[UInt8]]())
      var echoes = 0
      while let tag = try reader.tag() {
        guard tag.field > 2 else {
          echoes += 1
          try reader.skip(tag.type)
          continue
        }
        kind = tag.field
        var inner = try reader.message()
        while let tag = try inner.tag() {
          if tag.type == .lengthDelimited { parts.append(try inner.byteArray()) } else { try inner.skip(tag.type) }
        }
      }
      return (echoes == 2 ? kind : 0, parts)
    }
  }

  @Test("Reflection lists services and finds files by name and by symbol")
  func questions() throws {
    let services = try answer(request(7, ""))
    #expect(services.kind == 6 && services.parts.count == 6)
    let byName = try answer(request(3, "google/firestore/v1/document.proto"))
    let bySymbol = try answer(request(4, "google.firestore.v1.Document"))
    #expect(byName.kind == 4 && byName.parts.count == 4)
    #expect(bySymbol.parts == byName.parts)
    #expect(try answer(request(4, "google.firestore.v1.Firestore.Commit")).parts.count > 8)
    #expect(try answer(request(6, "google.firestore.v1.Document")).kind == 5)
  }

  @Test("Reflection reports an unknown symbol in its response, not as a stream error")
  func unknown() throws {
    for request in [request(3, "x.proto"), request(4, "x"), request(6, "x"), [], [0x3a]] as [[UInt8]]
    where request != [0x3a] {
      #expect(try answer(request).kind == 7 || request.isEmpty)
    }
    #expect(throws: RPCStatus.self) { try ReflectionAnswer(to: [0x3a]) }
  }

  @Test("10,000 damaged reflection requests are answered or rejected without a crash")
  func mutations() throws {
    var random = SeededGenerator(seed: 76)
    let originals = [request(3, "google/type/latlng.proto"), request(4, "google.rpc.Status"), request(7, "*")]
    var failures = 0

    for _ in 0..<10_000 {
      var bytes = random.pick(originals)
      let place = Int.random(in: bytes.indices, using: &random)
      if Bool.random(using: &random) {
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      } else {
        bytes.removeLast(bytes.count - place)
      }
      do { _ = try ReflectionAnswer(to: bytes) } catch { failures += 1 }
    }

    #expect((500..<9_500).contains(failures))
  }
}

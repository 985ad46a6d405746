// SPDX-License-Identifier: Apache-2.0
import FirestoreExports
import SeededRandom
import Testing

@Suite("Record files")
struct RecordLogTests {
  @Test(
    "Records that end near block boundaries are read in chunks of any size",
    arguments: [1, 6, 7, 8, 1000, 32_767, 32_768, 32_769, .max])
  func roundTrip(piece: Int) throws {
    let block = 32 * 1024
    let lengths = [0, 1, 7, block - 7 - 7 - 7 - 8 - 14 - 3, 0, 5, block - 7, block - 6, 3 * block, 2, block - 20, 4]
    let originals = lengths.enumerated().map { number, length in [UInt8](repeating: UInt8(number + 1), count: length) }

    let bytes = log(originals)

    #expect(try records(bytes, inPiecesOf: piece) == originals)
  }

  @Test("A record can begin at any position in a block", arguments: [0, 1, 100, 40_000])
  func beginnings(length: Int) throws {
    let record = [UInt8](repeating: 0xee, count: length)
    // So many bytes of the block are left for it.
    for left in 0..<40 {
      let filling = [UInt8](repeating: 1, count: 32 * 1024 - 7 - left)

      #expect(try records(log([filling, record, [2]])) == [filling, record, [2]], "\(left)")
    }
  }

  @Test("Record framing produces the same bytes as Google's emulator")
  func sameBytes() throws {
    for file in [EmulatorExport.output, EmulatorExport.all + "/emulator.overall_export_metadata"] {
      let original = try bytes(of: file)

      let content = try records(original)

      #expect(!content.isEmpty)
      #expect(log(content) == original)
    }
  }

  @Test("A damage error reports the offset of the first damaged byte")
  func damage() throws {
    let original = log([[1, 2, 3], [4, 5]])
    func damage(_ bytes: [UInt8]) -> RecordLogReader.Damage? {
      do {
        _ = try records(bytes)
        return nil
      } catch { return error as? RecordLogReader.Damage }
    }

    for index in original.indices {
      var bytes = original
      bytes[index] ^= 0x10
      #expect(damage(bytes)?.offset == (index < 10 ? 0 : 10))
    }
    for count in 1..<original.count where count != 10 { #expect(damage(Array(original.prefix(count))) != nil) }
    let long = log([[UInt8](repeating: 7, count: 70_000)])
    #expect(damage(Array(long.prefix(32 * 1024)))?.reason == "The file ends within a record.")
    #expect(damage(Array(long.suffix(long.count - 32 * 1024)))?.reason == "A record's beginning is missing.")
    #expect(damage(Array(long.prefix(32 * 1024)) + long)?.offset == 32 * 1024)
  }

  @Test("A record that exceeds the size limit is reported as damage")
  func limit() throws {
    let long = log([[UInt8](repeating: 7, count: 200_000)])

    #expect(throws: RecordLogReader.Damage.self) {
      try records(long, limit: 80_000)
    }
  }

  @Test("10,000 damaged files report damage or return the intact records")
  func mutations() throws {
    var random = SeededGenerator(seed: 71)
    let originals = (0..<12).map { number in [UInt8](repeating: UInt8(number), count: number * 40) }
    let original = log(originals)
    var failures = 0

    for _ in 0..<10_000 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        default: bytes.removeLast(bytes.count - max(place, 1))
        }
      }
      do {
        let found = try records(bytes)
        #expect(found.allSatisfy { originals.contains($0) })
      } catch { failures += 1 }
    }

    #expect(failures > 8_000)
  }
}

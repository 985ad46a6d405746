// SPDX-License-Identifier: Apache-2.0
import ByteCompression
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

@Suite("Compression")
struct CompressionTests {
  private static let formats = CompressionFormat.allCases

  private func compressed(_ bytes: [UInt8], _ format: CompressionFormat, piece: Int = 1000) throws -> [UInt8] {
    let compressor = try Compressor(format)
    var result: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
      result += try compressor.compress(Array(bytes[start..<min(start + piece, bytes.count)]))
    }
    return try result + compressor.compress([], isLast: true)
  }

  private func decompressed(_ bytes: [UInt8], _ format: CompressionFormat, piece: Int, room: Int) throws -> [UInt8] {
    let decompressor = try Decompressor(format)
    var result: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
      decompressor.append(Array(bytes[start..<min(start + piece, bytes.count)]))
      while true {
        let more = try decompressor.next(atMost: room)
        if more.isEmpty { break }
        #expect(more.count <= room)
        result += more
      }
    }
    try decompressor.finish()
    #expect(decompressor.consumed == bytes.count)
    return result
  }

  private func text(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).flatMap { Array("{\"path\": \"c/\($0)\", \"data\": {\"v\": \(random.next() % 1000)}}\n".utf8) }
  }

  @Test("Compressed data can be read in pieces of any size", arguments: formats)
  func roundTrip(_ format: CompressionFormat) throws {
    for bytes in [[], text(1), text(5000), [UInt8](repeating: 7, count: 3_000_000)] {
      let packed = try compressed(bytes, format)
      #expect(packed.starts(with: format.magic) && (bytes.count < 100 || packed.count < bytes.count / 3))
      #expect(try decompressed(packed, format, piece: 1 << 20, room: 1 << 20) == bytes)
      #expect(try decompressed(packed, format, piece: 997, room: 65_537) == bytes)
    }
    let short = try compressed(text(3), format)
    #expect(try decompressed(short, format, piece: 1, room: 1) == text(3))
  }

  @Test("Concatenated gzip members and zstd frames are read as one file", arguments: formats)
  func members(_ format: CompressionFormat) throws {
    var packed = try compressed(text(10), format) + compressed([], format) + compressed(text(400, seed: 2), format)
    if format == .gzip { packed += [UInt8](repeating: 0, count: 300) }
    #expect(try decompressed(packed, format, piece: 5, room: 64) == text(10) + text(400, seed: 2))
  }

  @Test("Truncated or changed compressed data is detected at every position", arguments: formats)
  func damages(_ format: CompressionFormat) throws {
    let packed = try compressed(text(20), format)
    for count in 1..<packed.count {
      #expect { try decompressed(Array(packed[..<count]), format, piece: 50, room: 4096) } throws: {
        ($0 as? CompressionError)?.kind == .truncated
      }
    }
    var changed = packed
    changed[packed.count - 6] ^= 1
    #expect { try decompressed(changed, format, piece: 50, room: 4096) } throws: {
      ($0 as? CompressionError)?.kind == .damaged
    }
    #expect { try decompressed(packed + Array("tail".utf8), format, piece: 50, room: 4096) } throws: {
      ($0 as? CompressionError)?.kind == .damaged
    }
  }

  @Test("An output's compression depends on its name or an option; conflicts are rejected")
  func names() throws {
    func choose(_ name: String?, _ option: CompressionFormat? = nil, tty: Bool = false) throws -> CompressionFormat? {
      try OutputCompression.choose(for: name, option, isTerminal: tty)
    }
    #expect(try choose("backup.jsonl.GZ") == .gzip && choose("b.zst") == .zstd && choose("gz.jsonl") == nil)
    #expect(try choose(nil, .zstd) == .zstd && choose("b.jsonl", .gzip) == .gzip && choose("b.gz", .gzip) == .gzip)
    for (name, option, word) in [
      ("b.gz", CompressionFormat.zstd, "gzip, but"), ("b.xz", nil, "| xz > b.xz"), ("b.json.bz2", .gzip, "bzip2"),
    ] as [(String, CompressionFormat?, String)] {
      #expect { try choose(name, option) } throws: { error in
        (error as? CommandFailure).map { $0.status == .usage && $0.message.contains(word) } ?? false
      }
    }
    #expect(throws: CommandFailure.self) { try choose(nil, .gzip, tty: true) }
    #expect(TransferFormat(fileName: "a.csv.gz") == .csv && TransferFormat(fileName: "a.JSON.ZST") == .json)
  }
}

@Suite("Compressed input")
struct CompressedInputTests {
  private func withFile<Result>(_ name: String, _ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
    let folder = try TemporaryFolder.made()
    try Data(bytes).write(to: URL(filePath: folder(name)))
    return try body(folder(name))
  }

  private func gzip(_ text: String) throws -> [UInt8] {
    try Compressor(.gzip).compress(Array(text.utf8), isLast: true)
  }

  private func records(_ input: inout ImportInput) throws -> [String] {
    var records: [String] = []
    while let batch = try input.next() { records += batch.records.map { String(decoding: $0.bytes, as: UTF8.self) } }
    return records
  }

  @Test(
    "A compressed file is recognized by its first bytes, and its import can resume",
    arguments: ["in.jsonl", "in.gz"])
  func contents(_ name: String) throws {
    for bytes in [try gzip("{}\n{\"a\": 1}\n"), Array("{}\n{\"a\": 1}\n".utf8)] {
      try withFile(name, bytes) { path in
        var input = try ImportInput(path, .jsonl)
        #expect(try records(&input) == ["{}", "{\"a\": 1}"])
        var again = try ImportInput(path, .jsonl)
        try again.skip(to: InputPosition(offset: 3, line: 2), .jsonl)
        #expect(try records(&again) == ["{\"a\": 1}"])
      }
    }
    try withFile("rows.csv", try gzip("a,b\n1,2\n3,4\n")) { path in
      var input = try ImportInput(path, .csv)
      #expect(try input.sample().count == 3)
      #expect(try records(&input) == ["1,2", "3,4"])
    }
  }

  @Test("A truncated compressed file is read up to the damage, which is reported")
  func truncated() throws {
    // More than one batch, and hard to compress, so that much of it is there without the end.
    var random = SeededGenerator(seed: 5)
    let lines = (0..<2000).map { _ in "{\"v\": \(random.next())}" }
    let whole = try gzip(lines.map { $0 + "\n" }.joined())
    let short = Array(whole[..<(whole.count * 3 / 4)])
    try withFile("in.jsonl.gz", short) { path in
      var input = try ImportInput(path, .jsonl)
      var found: [String] = []
      let failure = #expect(throws: CommandFailure.self) {
        while let batch = try input.next() {
          found += batch.records.map { String(decoding: $0.bytes, as: UTF8.self) }
          #expect(batch.end.compressed.map { $0 > 0 && $0 <= short.count } == true)
        }
      }
      #expect(failure?.status == .badData && failure?.message.contains("at byte \(short.count)") == true)
      #expect(found.count > 1000 && found == Array(lines[..<found.count]))
    }
  }

  @Test(
    "A compression format that Hearth lacks is reported with programs that read it",
    arguments: ["in.jsonl", "in.csv", "in.json"])
  func foreign(_ name: String) throws {
    try withFile(name, [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x0A]) { path in
      var input = try ImportInput(path, TransferFormat(fileName: name))
      let failure = #expect(throws: CommandFailure.self) { _ = try input.next() }
      #expect(failure?.message.contains("xz -dc FILE | hearth import -") == true && failure?.status == .badData)
    }
  }
}

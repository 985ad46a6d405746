// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import HearthCommand

@Suite("Compressed files")
struct CompressionTests {
  @Test("A name that promises one is refused, with the program that makes it; others are not")
  func names() throws {
    let failure = #expect(throws: CommandFailure.self) { try Compression.check(outputName: "backup.jsonl.GZ") }
    #expect(failure?.message.contains("| gzip > backup.jsonl.GZ") == true && failure?.status == .usage)
    try Compression.check(outputName: "gz.jsonl")
  }

  @Test(
    "One that is imported is told by its first bytes, whatever its name", arguments: ["in.jsonl", "in.csv", "in.json"])
  func contents(_ name: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: name)
    try Data([0x1F, 0x8B, 0x08, 0x00, 0x0A, 0x7B]).write(to: file)
    var input = try ImportInput(file.path, TransferFormat(fileName: name))

    let failure = #expect(throws: CommandFailure.self) { _ = try input.next() }

    #expect(failure?.message.contains("compressed by gzip") == true && failure?.status == .badData)
  }
}

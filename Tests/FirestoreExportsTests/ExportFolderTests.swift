// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

@testable import FirestoreExports

private let home = DatabaseID(project: "p", database: "d")

private func path(_ number: Int) -> String { "c/\(number)" }

@Suite("Export folders")
struct ExportFolderTests {
  @Test(
    "Documents in several files are read, and the metadata has the document count", arguments: [1, 3_000, 1 << 30])
  func severalFiles(bytesPerFile: Int) throws {
    let folder = try TemporaryFolder.made()
    let originals = (0..<100).map {
      (path($0), ["n": .integer(Int64($0)), "s": .string(String(repeating: "x", count: 50))] as Fields)
    }

    try export(folder("backup"), originals, in: home, bytesPerFile: bytesPerFile)

    #expect(try folder.names == ["backup"])
    #expect(try documents(folder("backup")) == Dictionary(uniqueKeysWithValues: originals))
    let reader = try ExportReader(folder("backup"))
    #expect(reader.documents == 100)
    let outputs = try FileManager.default.contentsOfDirectory(atPath: folder("backup/all_namespaces/all_kinds"))
    #expect(outputs.count == (bytesPerFile == 1 ? 101 : bytesPerFile == 3_000 ? 5 : 2))
    let size = try outputs.filter { $0.hasPrefix("output") }.reduce(0) {
      $0 + (try bytes(of: folder("backup/all_namespaces/all_kinds/" + $1)).count)
    }
    #expect(reader.bytes == size)
  }

  @Test("An export without documents is valid")
  func empty() throws {
    let folder = try TemporaryFolder.made()

    try export(folder("none"), [], in: home)

    #expect(try documents(folder("none")) == [:])
    #expect(try bytes(of: folder("none/none.overall_export_metadata")).count == 15)
  }

  @Test("An export is found by its metadata file, its folder or its parent folder")
  func location() throws {
    let folder = try TemporaryFolder.made()
    try export(folder("one"), [("c/d", [:])], in: home)

    for place in ["one/one.overall_export_metadata", "one", "one/", ""] {
      #expect(try documents(folder(place)).count == 1)
    }
    try export(folder("two"), [], in: home)
    #expect(throws: ExportError.self) { try ExportReader(folder.path) }
    #expect(throws: ExportError.self) { try ExportReader(folder("three")) }
    #expect(throws: ExportError.self) { try ExportReader(folder("one/all_namespaces/all_kinds/output-0")) }
    #expect(throws: ExportError.self) { try ExportReader(folder("one/all_namespaces")) }
  }

  @Test("A Windows export is read, with folders or backslashes in file names", arguments: [false, true])
  func windows(isUnpackedFlat: Bool) throws {
    let folder = try TemporaryFolder.made()
    try export(folder("e"), [("c/d", ["n": 1]), ("c/e", [:])], in: home)
    let metadata = folder("e/e.overall_export_metadata")
    var overall = try OverallMetadata(reading: records(bytes(of: metadata))[1])
    for index in overall.parts.indices { overall.parts[index].file.replace("/", with: "\\") }
    try Data(log([OverallMetadata.version, overall.record])).write(to: URL(filePath: metadata))
    if isUnpackedFlat {
      let inner = "all_namespaces/all_kinds"
      for name in try FileManager.default.contentsOfDirectory(atPath: folder("e/\(inner)")) {
        let flat = inner.replacing("/", with: "\\") + "\\" + name
        try FileManager.default.moveItem(atPath: folder("e/\(inner)/\(name)"), toPath: folder("e/\(flat)"))
      }
      try FileManager.default.removeItem(atPath: folder("e/all_namespaces"))
    }

    #expect(try documents(folder("e")) == ["c/d": ["n": 1], "c/e": [:]])
  }

  @Test(
    "A backslash in the metadata cannot lead out of the export", arguments: ["..\\x", "a\\..\\..\\x", "\\x", "a/..\\x"])
  func windowsEscape(name: String) {
    #expect(throws: ExportError.self) { try ExportLocation.file(name, namedBy: "/tmp/e/e.overall_export_metadata") }
  }

  @Test("An unfinished export changes no previous export and leaves no files")
  func atomic() throws {
    let folder = try TemporaryFolder.made()
    try export(folder("e"), [("c/old", [:])], in: home)

    do {
      var writer = try ExportWriter(folder("e"), home, begin: Timestamp(seconds: 1), bytesPerFile: 100)
      for number in 0..<100 { try writer.append(DocumentKey(unchecked: ResourcePath(path(number))), [:]) }
      #expect(try documents(folder("e")).keys.sorted() == ["c/old"])
      let part = try #require(try folder.names.first { $0 != "e" })
      #expect(part.hasPrefix(".e.part-"))
      #expect(throws: ExportError.self) { try ExportLocation(folder(part)) }
      #expect(try documents(folder.path).keys.sorted() == ["c/old"])
    }
    #expect(try folder.names == ["e"])

    try export(folder("e"), [("c/new", [:])], in: home)
    #expect(try documents(folder("e")).keys.sorted() == ["c/new"])
    #expect(try folder.names == ["e"])
  }

  @Test("An export removes the files of a killed export with the same name")
  func abandoned() throws {
    let folder = try TemporaryFolder.made()
    for name in [".e.part-999999999-1/all_namespaces", ".e.part-\(getpid())-9999", ".f.part-999999999-1"] {
      try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
    }

    try export(folder("e"), [], in: home)

    #expect(try folder.names == [".e.part-\(getpid())-9999", ".f.part-999999999-1", "e"])
  }

  @Test("Of two concurrent exports with one name, the one that finishes last is stored")
  func twoAtATime() throws {
    let folder = try TemporaryFolder.made()
    var first = try ExportWriter(folder("e"), home, begin: Timestamp(seconds: 1))
    var second = try ExportWriter(folder("e"), home, begin: Timestamp(seconds: 1))
    try first.append(DocumentKey(unchecked: ResourcePath("c/first")), [:])
    try second.append(DocumentKey(unchecked: ResourcePath("c/second")), [:])

    try second.finish(end: Timestamp(seconds: 2))
    try first.finish(end: Timestamp(seconds: 2))

    #expect(try documents(folder("e")).keys.sorted() == ["c/first"])
    #expect(try folder.names == ["e"])
  }

  @Test("Only an existing export can be replaced")
  func others() throws {
    let folder = try TemporaryFolder.made()
    try FileManager.default.createDirectory(atPath: folder("mine"), withIntermediateDirectories: true)
    try Data([1]).write(to: URL(fileURLWithPath: folder("mine/letter")))
    try Data([1]).write(to: URL(fileURLWithPath: folder("file")))

    for name in ["mine", "file", "", "absent/deeper", "mine/.."] {
      #expect(throws: ExportError.self, "\(name)") { try export(name == "" ? "/" : folder(name), [], in: home) }
    }
    #expect(try folder.names == ["file", "mine"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder("mine")) == ["letter"])
  }

  @Test("Working directories, their ancestors and mount points are never replaced")
  func immovable() throws {
    for name in [".", "./", "..", FileManager.default.currentDirectoryPath, "/proc", "/"] {
      #expect(throws: ExportError.self, "\(name)") { try export(name, [], in: home) }
    }
    #expect(MountedFolders.contain("/proc"))
    let folder = try TemporaryFolder.made()
    #expect(!MountedFolders.contain(folder.path))
    for (line, path) in [
      ("36 35 98:0 / /mnt rw - ext3 /dev/root rw", "/mnt"), (#"36 35 98:0 /a /m\040\134n\04 rw"#, #"/m \n\04"#),
      ("36 35 98:0 /", nil), ("", nil),
    ] as [(String, String?)] {
      #expect(MountedFolders.folder(line.utf8) == path.map { Array($0.utf8) })
    }
  }

  @Test("The error for a missing, truncated, extended or foreign file names the file")
  func damage() throws {
    let folder = try TemporaryFolder.made()
    let originals = (0..<40).map { (path($0), ["s": .string(String(repeating: "x", count: 50))] as Fields) }
    func attempt(_ change: (String) throws -> Void) throws -> ExportError? {
      try export(folder("e"), originals, in: home, bytesPerFile: 2_000)
      try change(folder("e"))
      do {
        _ = try documents(folder("e"))
        return nil
      } catch { return error as? ExportError }
    }
    let output = "/all_namespaces/all_kinds/output-1"

    let missing = try attempt { try FileManager.default.removeItem(atPath: $0 + output) }
    #expect(missing?.kind == .absent && missing?.file == folder("e") + output)
    let cut = try attempt {
      try Data(try bytes(of: $0 + output).dropLast()).write(to: URL(fileURLWithPath: $0 + output))
    }
    #expect(cut?.kind == .damaged && cut?.file == folder("e") + output && (cut?.offset ?? 0) > 0)
    let short = try attempt { try Data().write(to: URL(fileURLWithPath: $0 + output)) }
    #expect(short?.reason.hasPrefix("The metadata states 40 documents, but the files next to it have ") == true)
    let pipe = try attempt {
      try FileManager.default.removeItem(atPath: $0 + output)
      mkfifo($0 + output, 0o600)
    }
    #expect(pipe?.reason == "This is not a regular file.")
    for name in ["../../secret", "/etc/passwd", "a//b", ""] {
      let elsewhere = try attempt {
        let overall = log([Array("3".utf8), Self.overall(naming: name)])
        try Data(overall).write(to: URL(fileURLWithPath: $0 + "/e.overall_export_metadata"))
      }
      #expect(elsewhere?.kind == .unsupported, "\(name)")
    }
    let version = try attempt {
      try Data(log([Array("4".utf8), []])).write(to: URL(fileURLWithPath: $0 + "/e.overall_export_metadata"))
    }
    #expect(version?.kind == .unsupported)
  }

  private static func overall(naming file: String) -> [UInt8] {
    WireWriter.message { writer in writer.field(1) { $0.field(2, string: file) } }
  }

  @Test("A damaged export is rejected or read correctly")
  func damagedFiles() throws {
    var random = SeededGenerator(seed: 74)
    let folder = try TemporaryFolder.made()
    let originals = (0..<3).map { (path($0), ["n": .integer(Int64($0))] as Fields) }
    let whole = Dictionary(uniqueKeysWithValues: originals)
    try export(folder("e"), originals, in: home)
    let names = ["e.overall_export_metadata", part + "/all_namespaces_all_kinds.export_metadata", part + "/output-0"]
    var failures = 0

    for name in names {
      let file = folder("e/" + name)
      let content = try bytes(of: file)
      let descriptor = open(file, O_WRONLY)
      func replace(_ bytes: [UInt8]) {
        #expect(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
      }
      for _ in 0..<300 {
        replace(content.damaged(&random))
        do { #expect(try documents(folder("e")) == whole) } catch { failures += 1 }
      }
      replace(content)
      close(descriptor)
    }

    #expect(failures > 700)
  }

  @Test("10,000 damaged metadata files are read or rejected without a crash")
  func damagedMetadata() throws {
    var random = SeededGenerator(seed: 75)
    let overall = OverallMetadata([.init(file: part, documents: 7, bytes: 1 << 40)])
    let metadata = PartMetadata(
      name: "e", begin: Timestamp(seconds: 1), end: Timestamp(seconds: 2), files: ["output-0", "output-1"])
    #expect(try OverallMetadata(reading: overall.record) == overall)
    #expect(try PartMetadata(reading: metadata.bytes) == metadata)
    var failures = 0

    for _ in 0..<10_000 {
      do {
        _ = try OverallMetadata(reading: overall.record.damaged(&random))
        _ = try PartMetadata(reading: metadata.bytes.damaged(&random))
      } catch { failures += 1 }
    }

    #expect(failures > 1_000)
  }
}

private let part = "all_namespaces/all_kinds"

extension [UInt8] {
  /// With a bit turned, cut off, or with a byte too many.
  fileprivate func damaged(_ random: inout SeededGenerator) -> [UInt8] {
    var bytes = self
    let place = Int.random(in: bytes.indices, using: &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: bytes.removeLast(bytes.count - place)
    default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
    }
    return bytes
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

@testable import FirestoreSQLite

@Suite("Page checksums") struct PageChecksumTests {
  private static func fill(_ path: String) throws {
    let database = try Connection(path: PageChecksums.uri(of: path), called: "database")
    try database.configure(
      Connection.Settings(
        creation: "PRAGMA page_size = 4096;", opening: "PRAGMA journal_mode = WAL;",
        reservedBytes: PageChecksums.reservedBytes))
    try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    try database.execute("CREATE INDEX i ON t (x)")
    try database.execute(
      """
      WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 400)
      INSERT INTO t SELECT v, CASE v % 20 WHEN 0 THEN zeroblob(9000) ELSE 'text ' || v END FROM n
      """)
    try database.execute("DELETE FROM t WHERE id % 7 = 0; VACUUM; INSERT INTO t VALUES (9999, 'last')")
  }

  private static let everything = "SELECT sum(id) + count(x) + sum(length(x)) FROM t"

  @Test("A database with checksums can be opened in a folder with unusual characters")
  func reads() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let folder = directory.path + "/a b?c%41#ü"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = folder + "/data"
    try Self.fill(path)

    let expected = try Connection(path: PageChecksums.uri(of: path), called: "database").integer(
      composed: Self.everything)
    #expect(try Connection(path: path, called: "database").integer(composed: Self.everything) == expected)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["data"])
  }

  @Test("Reading a page with a flipped bit fails")
  func everyPage() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/data"
    try Self.fill(path)
    let whole = try Data(contentsOf: URL(filePath: path))
    let expected = try Connection(path: PageChecksums.uri(of: path), called: "database").integer(
      composed: Self.everything)
    var random = SeededGenerator(seed: 5)

    for page in 0..<(whole.count / 4096) {
      var changed = whole
      changed[page * 4096 + Int.random(in: 0..<4096, using: &random)] ^= 1 << UInt8(page % 8)
      try changed.write(to: URL(filePath: path))
      let bytes = [UInt8](changed[page * 4096..<(page + 1) * 4096])
      #expect(bytes.withUnsafeBytes { !PageChecksums.isIntact($0) })
      // Pages of the index are not read for this; what is read is right.
      do {
        #expect(
          try Connection(path: PageChecksums.uri(of: path), called: "database").integer(composed: Self.everything)
            == expected)
      } catch {
        #expect(error.kind == .corrupt, "page \(page): \(error)")
      }
    }
  }

  @Test("Checksums use the format of SQLite's checksum VFS")
  func publishedForm() {
    // Two sums of 32 bits over little-endian words: first += word + second, second += word + first.
    var page = [UInt8](repeating: 0, count: 512)
    page.replaceSubrange(0..<8, with: [1, 0, 0, 0, 2, 0, 0, 0])
    page.replaceSubrange(496..<504, with: [0xFF, 0xFF, 0xFF, 0xFF, 3, 0, 0, 0])
    var (first, second): (UInt32, UInt32) = (0, 0)
    for place in stride(from: 0, to: 504, by: 8) {
      func word(_ offset: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(page[offset + $1]) << UInt32(8 * $1) } }
      first &+= word(place) &+ second
      second &+= word(place + 4) &+ first
    }
    for (index, sum) in [first, second].enumerated() {
      for byte in 0..<4 { page[504 + 4 * index + byte] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * byte)) }
    }

    #expect(page.withUnsafeBytes { PageChecksums.isIntact($0) })
    page[3] ^= 1
    #expect(page.withUnsafeBytes { !PageChecksums.isIntact($0) })
  }

  @Test("PRAGMA checksum_verification turns verification off and on")
  func pragma() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/data"
    try Self.fill(path)
    try edit(path) { $0[$0.count - 4096 + 2_000] ^= 1 }
    let database = try Connection(path: PageChecksums.uri(of: path), called: "database")

    #expect(try database.integer(composed: "PRAGMA checksum_verification") == 1)
    #expect(try database.integer(composed: "PRAGMA checksum_verification = OFF") == 0)
    #expect(try database.integer(composed: Self.everything) != nil)
    #expect(try database.integer(composed: "PRAGMA checksum_verification = ON") == 1)
  }
}

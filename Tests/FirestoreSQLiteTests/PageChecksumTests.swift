// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

@testable import FirestoreSQLite

@Suite("Checksums of pages") struct PageChecksumTests {
  private static func fill(_ path: String) throws {
    let database = try Connection(path: PageChecksums.uri(of: path), called: "database")
    database.reserve(PageChecksums.reservedBytes)
    try database.execute(
      "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    try database.execute("CREATE INDEX i ON t (x)")
    try database.execute(
      """
      WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 400)
      INSERT INTO t SELECT v, CASE v % 20 WHEN 0 THEN zeroblob(9000) ELSE 'text ' || v END FROM n
      """)
    try database.execute("DELETE FROM t WHERE id % 7 = 0; VACUUM; INSERT INTO t VALUES (9999, 'last')")
  }

  private static let everything = "SELECT sum(id) + count(x) + sum(length(x)) FROM t"

  @Test("A database with checksums is read as any other, in a folder of any name")
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

  @Test("One bit changed anywhere in the file, or a page in another's place, ends the read with an error")
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
      #expect(bytes.withUnsafeBytes { !PageChecksums.isIntact($0, number: UInt32(page + 1)) })
      // Pages of the index are not read for this; what is read is right.
      do {
        #expect(
          try Connection(path: PageChecksums.uri(of: path), called: "database").integer(composed: Self.everything)
            == expected)
      } catch {
        #expect(error.kind == .corrupt, "page \(page): \(error)")
      }
    }
    var exchanged = whole
    exchanged.replaceSubrange(8192..<12288, with: whole[12288..<16384])
    try exchanged.write(to: URL(filePath: path))
    #expect(throws: StoreError.self) {
      _ = try Connection(path: PageChecksums.uri(of: path), called: "database").integer(
        composed: "SELECT count(*) FROM t WHERE x IS NOT NULL")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

@testable import FirestoreSQLite

@Suite("Gathered WAL frames") struct GatheredLogTests {
  private static let settings = Connection.Settings(
    creation: "PRAGMA page_size = 4096;",
    // A small cache writes pages into the log before their commit, and again when they change after that.
    opening: """
      PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = 12;
      """,
    reservedBytes: PageChecksums.reservedBytes, checkpointPages: 400)

  private static func open(_ path: String) throws -> Connection {
    let database = try Connection(path: PageChecksums.uri(of: path), called: "database")
    try database.configure(settings)
    return database
  }

  private static let contents = "SELECT count(*) * 1000003 + coalesce(sum(n * id), 0) + sum(length(x)) FROM t"

  @Test("A copy of the files after any commit contains that commit", arguments: 1...TestSize.count(4, full: 60))
  func everyCommit(_ seed: Int) throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/data"
    let database = try Self.open(path)
    try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, x BLOB)")
    var random = SeededGenerator(seed: UInt64(seed))

    for round in 0..<40 {
      let isRolledBack = Int.random(in: 0..<5, using: &random) == 0
      let changes = Int.random(in: 1...(round.isMultiple(of: 7) ? 120 : 6), using: &random)
      do {
        try database.transaction { () throws(StoreError) in
          for _ in 0..<changes {
            let id = Int64.random(in: 1...60, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: try database.run("DELETE FROM t WHERE id = ?", id)
            case 1: _ = try database.integer("SELECT sum(length(x)) FROM t")
            default:
              try database.run(
                "INSERT OR REPLACE INTO t VALUES (?, ?, zeroblob(?))", id, Int64.random(in: 0...999, using: &random),
                Int64.random(in: 0...9_000, using: &random))
            }
          }
          if isRolledBack { throw StoreError(.sqlite, "rolled back") }
        }
      } catch {
        #expect(error.message == "rolled back")
      }
      let expected = try database.integer(composed: Self.contents)

      // What a killed process leaves, read by SQLite without this layer.
      let killed = directory.path + "/killed-\(round)"
      try copy(path, to: killed)
      let found = try Connection(path: killed, called: "database")
      #expect(try found.integer(composed: Self.contents) == expected, "seed \(seed), round \(round)")
      #expect(try found.integrityComplaint() == nil, "seed \(seed), round \(round)")
      found.close()
    }
  }

  @Test("Gathered WAL frames can be read before the commit that writes them")
  func reads() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/data"
    let database = try Self.open(path)
    try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, x BLOB)")

    try database.transaction { () throws(StoreError) in
      let before = (try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int) ?? 0
      for id in 0..<8 { try database.run("INSERT INTO t VALUES (?, 1, zeroblob(3000))", Int64(id)) }
      // Nothing of the transaction is in the file yet, and all of it can be read.
      let now = (try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int) ?? 0
      #expect(now == before)
      #expect(try database.integer("SELECT count(*) FROM t") == 8)
    }
    let log = try #require(try WriteAheadLog(path: path + "-wal"))
    #expect(log.frames.last?.isCommit == true && log.frames.allSatisfy(\.isIntact))
  }
}

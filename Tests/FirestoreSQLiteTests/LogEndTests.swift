// SPDX-License-Identifier: Apache-2.0
import CPageChecksums
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

@testable import FirestoreSQLite

@Suite("What was noted of a log") struct LogEndTests {
  private static let settings = Connection.Settings(
    creation: "PRAGMA page_size = 4096;",
    opening: "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
    reservedBytes: PageChecksums.reservedBytes)

  private static func open(_ path: String) throws -> Connection {
    let files = DatabaseFiles(path: path)
    _ = try files.prepare { path throws(StoreError) in
      let new = try Connection(path: PageChecksums.uri(of: path), called: "database")
      defer { new.close() }
      try new.configure(settings)
      try new.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    }
    let database = try Connection(path: PageChecksums.uri(of: path, notesEnd: true), called: "database")
    try database.configure(settings)
    return database
  }

  private static func insert(_ database: Connection, _ bytes: Int = 10) throws {
    try database.transaction { () throws(StoreError) in
      try database.run("INSERT INTO t (x) VALUES (zeroblob(?))", Int64(bytes))
    }
  }

  private static func rows(_ database: Connection) throws -> Int64? { try counted(database) }

  private static func counted(_ database: Connection) throws(StoreError) -> Int64? {
    try database.integer("SELECT count(*) FROM t")
  }

  /// What is left if the process is killed now.
  private static func killed(_ path: String, _ directory: TemporaryFolder) throws -> DatabaseFiles {
    let files = DatabaseFiles(path: directory.path + "/left-\(UUID().uuidString)")
    for suffix in ["", "-wal", CPC_LOG_END_SUFFIX] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: files.path + suffix)
    }
    return files
  }

  private static func refusal(_ files: DatabaseFiles) -> String? {
    do throws(StoreError) { try LogInspection.check(files) } catch { return error.message }
    return nil
  }

  @Test("A transaction that changes no row begins no log; the first that does brings the first page")
  func idle() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/data"
    let database = try Self.open(path)
    defer { database.close() }
    func logged() throws -> Int { try Data(contentsOf: URL(filePath: path + "-wal")).count }

    let found = try database.transaction { () throws(StoreError) in
      try database.run("UPDATE t SET x = 1 WHERE id = 7")
      return try Self.counted(database)
    }
    #expect(found == 0)
    #expect(try logged() == 0)

    try Self.insert(database)
    // The log's header, and a frame each for the first page and for the table's.
    #expect(try logged() == 32 + 2 * (24 + 4096))
    try Self.insert(database)
    #expect(try logged() == 32 + 3 * (24 + 4096))
  }

  @Test("Whatever a connection does, what it leaves when it is killed is found whole, and each part of it is needed")
  func anyMoment() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/data"
    var database = try Self.open(path)
    let seed: UInt64 = 21
    var random = SeededGenerator(seed: seed)
    var trace: [Int] = []
    for _ in 0..<120 {
      let step = Int.random(in: 0..<9, using: &random)
      trace.append(step)
      switch step {
      case 0: try database.execute("PRAGMA wal_checkpoint")
      case 1: try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      case 2:
        database.close()
        database = try Self.open(path)
      case 3:
        // More pages than the cache holds, of which some are written twice, and some are given up.
        try database.execute("PRAGMA cache_size = 5; BEGIN")
        for _ in 0..<40 { try database.execute("INSERT INTO t (x) VALUES (randomblob(3000))") }
        try database.execute("UPDATE t SET x = randomblob(2999) WHERE id % 3 = 0")
        try database.execute(Bool.random(using: &random) ? "COMMIT" : "ROLLBACK")
      case 4: try database.execute("PRAGMA synchronous = \(Bool.random(using: &random) ? "FULL" : "NORMAL")")
      default: try Self.insert(database, Int.random(in: 0..<9_000, using: &random))
      }
      let files = try Self.killed(path, directory)
      #expect(Self.refusal(files) == nil, "seed \(seed), after \(trace)")
      let again = try Self.open(files.path)
      #expect(try Self.rows(again) == Self.rows(database), "seed \(seed), after \(trace)")
      again.close()
    }
  }

  @Test("Frames reach the log with their commit; what is read before that is what was written")
  func gathered() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/data"
    let database = try Self.open(path)
    defer { database.close() }
    try Self.insert(database)
    func logged() throws -> Int { try Data(contentsOf: URL(filePath: path + "-wal")).count }
    let before = try logged()

    // Some pages leave the cache for the log, and come back from there.
    try database.execute("PRAGMA cache_size = 5; BEGIN")
    for number in 2...16 { try database.run("INSERT INTO t VALUES (?, zeroblob(3000))", Int64(number)) }
    #expect(try logged() == before)
    #expect(try database.integer("SELECT sum(length(x)) FROM t") == 15 * 3_000 + 10)
    try database.execute("COMMIT")
    #expect(try logged() >= before + 15 * (24 + 4_096))

    let files = try Self.killed(path, directory)
    #expect(Self.refusal(files) == nil)
    let again = try Self.open(files.path)
    defer { again.close() }
    #expect(try again.integer("SELECT sum(length(x)) FROM t") == 15 * 3_000 + 10)
  }

  @Test("A log without its end is told wherever it was cut, down to the last byte of the last commit")
  func cut() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/data"
    let database = try Self.open(path)
    for _ in 0..<5 { try Self.insert(database) }
    // Frames of no commit, behind all of these, and more of them than wait to be written together.
    try database.execute("PRAGMA cache_size = 5; BEGIN")
    for _ in 0..<60 { try database.execute("INSERT INTO t (x) VALUES (randomblob(3000))") }
    let files = try Self.killed(path, directory)
    let log = try Data(contentsOf: URL(filePath: files.log))
    let end = try #require(try WriteAheadLog(path: files.log)).committedEnd
    #expect(end < log.count)

    for length in [0, 1, 31, 32, 56, 600, 4_151, 4_152, 4_153, end - 4_120, end - 1, end, end + 1, log.count] {
      try log.prefix(length).write(to: URL(filePath: files.log))
      #expect((Self.refusal(files) == nil) == (length >= end), "\(length) of \(end)")
    }
    try FileManager.default.removeItem(atPath: files.log)
    #expect(Self.refusal(files)?.contains("is missing, or empty: \(end) bytes of commits") == true)
  }

  @Test("A log that was brought back into the database may be missing")
  func restored() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/data"
    let database = try Self.open(path)
    for _ in 0..<5 { try Self.insert(database) }
    try database.execute("PRAGMA wal_checkpoint")
    let files = try Self.killed(path, directory)
    try FileManager.default.removeItem(atPath: files.log)

    #expect(Self.refusal(files) == nil)
    #expect(try Self.rows(Self.open(files.path)) == 5)
  }

  @Test("After the system went down only what the disk was waited for must be there; what else is missing is said once")
  func powerCut() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/data"
    let database = try Self.open(path)
    for _ in 0..<3 { try Self.insert(database) }
    try database.execute("PRAGMA synchronous = FULL")
    try Self.insert(database)
    let waited = try #require(try WriteAheadLog(path: path + "-wal")).committedEnd
    try database.execute("PRAGMA synchronous = NORMAL")
    for _ in 0..<3 { try Self.insert(database) }
    let files = try Self.killed(path, directory)
    try edit(files.log) { $0 = $0.prefix(waited) }
    #expect(Self.refusal(files)?.contains("cut off") == true)

    try Self.forgetBoot(files)
    #expect(try LogInspection.check(files).first?.contains("lost its last commits") == true)
    #expect(try LogInspection.check(files) == [])

    try FileManager.default.copyItem(atPath: path + CPC_LOG_END_SUFFIX, toPath: files.logEnd)
    try Self.forgetBoot(files)
    try edit(files.log) { $0.removeLast() }
    #expect(Self.refusal(files)?.contains("cut off") == true)
  }

  /// Has the last commit noted as if the system had been started anew since.
  private static func forgetBoot(_ files: DatabaseFiles) throws {
    try edit(files.logEnd) { bytes in
      bytes[64 + 24] ^= 1
      let sum = [UInt8](bytes[64..<96]).withUnsafeBytes { cpc_checksum($0.baseAddress, 32, 2) }
      withUnsafeBytes(of: sum) { bytes.replaceSubrange(96..<104, with: $0) }
    }
  }

  @Test("A log beside another database, or beside an older state of its own, is told", arguments: 0..<6)
  func otherDatabase(_ number: Int) throws {
    let directory = TemporaryFolder()
    try directory.make()
    let (path, other) = (directory.path + "/data", directory.path + "/other")
    let foreign = try Self.open(other)
    try Self.insert(foreign)
    var states: [Data] = []
    var database = try Self.open(path)
    // Each a run of its own that changes one row, and no structure.
    try Self.insert(database)
    for run in 0..<4 {
      database.close()
      states.append(try Data(contentsOf: URL(filePath: path)))
      database = try Self.open(path)
      try database.transaction { () throws(StoreError) in try database.run("UPDATE t SET x = ?", Int64(run)) }
    }
    let files = try Self.killed(path, directory)
    #expect(Self.refusal(files) == nil)

    switch number {
    case 0..<3:
      try states[number].write(to: URL(filePath: files.path))
      #expect(Self.refusal(files)?.contains("is not the file that") == true)
    case 3:
      // As the log goes on from it.
      try states[3].write(to: URL(filePath: files.path))
      #expect(Self.refusal(files) == nil)
    case 4:
      try Data(contentsOf: URL(filePath: other + "-wal")).write(to: URL(filePath: files.log))
      #expect(Self.refusal(files)?.contains("is not the log that was written last") == true)
    default:
      // Nothing is known of it: as a version left it that noted nothing.
      try FileManager.default.removeItem(atPath: files.logEnd)
      #expect(Self.refusal(files) == nil)
    }
  }

  @Test("Notes that are not what was written say nothing")
  func damagedNotes() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/data"
    let database = try Self.open(path)
    for _ in 0..<3 { try Self.insert(database) }
    let files = try Self.killed(path, directory)
    let notes = try Data(contentsOf: URL(filePath: files.logEnd))
    for place in 0..<notes.count {
      try edit(files.logEnd) { $0[place] ^= 4 }
      #expect(Self.refusal(files) == nil, "byte \(place)")
      try notes.write(to: URL(filePath: files.logEnd))
    }
  }
}

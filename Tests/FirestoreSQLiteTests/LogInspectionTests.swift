// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Testing

@testable import FirestoreSQLite

@Suite("The log beside a database") struct LogInspectionTests {
  private static let frameSize = 4096 + 24

  /// A database as a killed process leaves it: `commits` rows in the log, none of them in the file.
  private static func killed(_ directory: TemporaryFolder, commits: Int, unfinished: Bool = false) throws
    -> DatabaseFiles
  {
    try directory.make()
    let path = directory.path + "/used"
    let database = try Connection(path: path, called: "database")
    try database.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 10")
    try database.execute("CREATE TABLE t (x)")
    for number in 0..<commits { try database.execute("INSERT INTO t VALUES (\(number))") }
    if unfinished {
      // More pages than the cache holds are in the log before their commit is.
      try database.execute("BEGIN")
      for _ in 0..<200 { try database.execute("INSERT INTO t VALUES (zeroblob(2000))") }
    }
    let files = DatabaseFiles(path: directory.path + "/left")
    try copy(path, to: files.path)
    return files
  }

  private static func frames(_ files: DatabaseFiles) throws -> [WriteAheadLog.Frame] {
    try #require(try WriteAheadLog(path: files.log)).frames
  }

  @Test("What a killed process leaves is no damage, wherever the last write was cut off")
  func tornTail() throws {
    let directory = TemporaryFolder()
    let files = try Self.killed(directory, commits: 6)
    let size = try Data(contentsOf: URL(filePath: files.log)).count

    try LogInspection.check(files)
    for cut in [1, 20, 4096, 4100, 4119, 4121, 3 * Self.frameSize, size - 10, size] {
      try edit(files.log) { $0.removeLast($0.count - max(0, size - cut)) }
      try LogInspection.check(files)
    }
  }

  @Test("Frames that no commit follows are no damage, also when newer commits have replaced the first of them")
  func unfinishedTransaction() throws {
    let directory = TemporaryFolder()
    let files = try Self.killed(directory, commits: 3, unfinished: true)
    #expect(try Self.frames(files).last?.isCommit == false)
    try LogInspection.check(files)

    let database = try Connection(path: files.path, called: "database")
    try database.execute("PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (7)")
    let again = DatabaseFiles(path: directory.path + "/again")
    try copy(files.path, to: again.path)
    #expect(try Self.frames(again).contains { !$0.isIntact && $0.matchingSalts == 2 })
    try LogInspection.check(again)
  }

  @Test("Frames of an earlier generation behind the last commit are no damage")
  func earlierGeneration() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let path = directory.path + "/used"
    let database = try Connection(path: path, called: "database")
    try database.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)")
    for number in 0..<6 { try database.execute("INSERT INTO t VALUES (\(number))") }
    try database.execute("PRAGMA wal_checkpoint; INSERT INTO t VALUES (7)")
    let files = DatabaseFiles(path: directory.path + "/left")
    try copy(path, to: files.path)

    #expect(LogInspection.finding(try WriteAheadLog(path: files.log)) == .intact(commits: 1))
    // The commit that was being written when the process died: its header is there, its page is not.
    try edit(files.log) { $0[32 + 24 + 100] ^= 0x55 }
    #expect(LogInspection.finding(try WriteAheadLog(path: files.log)) == .nothing)
  }

  @Test("One bit anywhere in the log is damage, not the end of what was committed")
  func everyBit() throws {
    let directory = TemporaryFolder()
    let files = try Self.killed(directory, commits: 4)
    let whole = try Data(contentsOf: URL(filePath: files.log))
    let frames = try Self.frames(files)
    #expect(frames.allSatisfy { $0.isIntact })

    // Each number of the headers, and some of the pages.
    let headers = frames.flatMap { stride(from: $0.offset - 24, to: $0.offset, by: 4) }
    let places = Array(stride(from: 0, to: 32, by: 4)) + headers + Array(stride(from: 32, to: whole.count, by: 1_997))
    for place in places {
      var changed = whole
      changed[place] ^= 1 << UInt8(place % 8)
      try changed.write(to: URL(filePath: files.log))
      #expect(throws: StoreError.self, "byte \(place)") { try LogInspection.check(files) }
    }
  }

  @Test("A main file that is missing or empty beside a log with commits is damage", arguments: [true, false])
  func withoutMainFile(_ isMissing: Bool) throws {
    let directory = TemporaryFolder()
    let files = try Self.killed(directory, commits: 2)
    if isMissing {
      try FileManager.default.removeItem(atPath: files.path)
    } else {
      try Data().write(to: URL(filePath: files.path))
    }

    let error = #expect(throws: StoreError.self) { _ = try files.prepare { _ in } }
    #expect(error?.kind == .corrupt)
    #expect(error?.message.contains("its log holds 3 commits") == true)
    // Nothing was made in its place.
    #expect(FileManager.default.fileExists(atPath: files.path) == !isMissing)
  }
}

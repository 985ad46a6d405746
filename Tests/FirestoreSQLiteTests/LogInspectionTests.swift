// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Testing

@testable import FirestoreSQLite

@Suite("WAL inspection") struct LogInspectionTests {
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

  private static func rows(_ files: DatabaseFiles) -> Int64? {
    // Without the commit that made the table there is none.
    try? Connection(path: files.path, called: "database").integer("SELECT count(*) FROM t")
  }

  @Test("A WAL that ends within a frame is not reported as damage")
  func tornTail() throws {
    let directory = TemporaryFolder()
    let files = try Self.killed(directory, commits: 6)
    let size = try Data(contentsOf: URL(filePath: files.log)).count

    #expect(try LogInspection.prepare(files) == [])
    for cut in [1, 20, 4096, 4100, 4119, 4121, 3 * Self.frameSize, size - 10, size] {
      try edit(files.log) { $0.removeLast($0.count - max(0, size - cut)) }
      #expect(try LogInspection.prepare(files) == [])
    }
  }

  @Test("Trailing WAL frames without a commit are not reported as damage")
  func unfinishedTransaction() throws {
    let directory = TemporaryFolder()
    let files = try Self.killed(directory, commits: 3, unfinished: true)
    #expect(try Self.frames(files).last?.isCommit == false)
    #expect(try LogInspection.prepare(files) == [])

    let database = try Connection(path: files.path, called: "database")
    try database.execute("PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (7)")
    let again = DatabaseFiles(path: directory.path + "/again")
    try copy(files.path, to: again.path)
    #expect(try Self.frames(again).contains { !$0.isIntact && $0.matchingSalts == 2 })
    #expect(try LogInspection.prepare(again) == [])
  }

  @Test("WAL frames of an earlier WAL are not reported as damage")
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

    #expect(try LogInspection.prepare(files) == [])
    // The last commit while the process died: its header is there, its page is not.
    try edit(files.log) { $0[32 + 24 + 100] ^= 0x55 }
    #expect(try LogInspection.prepare(files) == [])
  }

  @Test("Commits after a damaged frame are reported once, and the WAL is kept")
  func everyBit() throws {
    let directory = TemporaryFolder()
    let files = try Self.killed(directory, commits: 4)
    let database = try Data(contentsOf: URL(filePath: files.path))
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
      try database.write(to: URL(filePath: files.path))
      let damaged = place < 32 ? -1 : (place - 32) / Self.frameSize
      let lost = frames[(damaged + 1)...].count { $0.isCommit }
      let recovered = frames[..<max(damaged, 0)].count { $0.isCommit }

      let messages = try LogInspection.prepare(files)
      let kept = files.keptLogs
      let again = try LogInspection.prepare(files)

      #expect(messages.count == (lost > 0 ? 1 : 0), "byte \(place): \(messages)")
      #expect(lost == 0 || messages[0].contains("\(lost) commit"), "byte \(place): \(messages)")
      #expect(kept.count == messages.count && again == [], "byte \(place)")
      for log in kept { #expect(try Data(contentsOf: URL(filePath: log)) == changed) }
      // The first commit made the table.
      #expect(Self.rows(files) == (recovered == 0 ? nil : Int64(recovered - 1)), "byte \(place)")
      for log in kept { try FileManager.default.removeItem(atPath: log) }
    }
  }

  @Test("Data still marked open from an earlier boot means a power failure, not a kill")
  func openMark() throws {
    let directory = TemporaryFolder()
    try directory.make()
    let files = DatabaseFiles(path: directory.path + "/data")
    let mark = OpenMark(files)
    #expect(!mark.takeCrash())

    mark.set()
    #expect(!mark.takeCrash())
    // Another boot.
    try Data("another boot".utf8).write(to: URL(filePath: files.openMark))
    #expect(mark.takeCrash())
    #expect(!mark.takeCrash())

    mark.set()
    mark.remove()
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
  }

  @Test("A missing or empty database with commits in its WAL is damage", arguments: [true, false])
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
    #expect(error?.message.localizedCaseInsensitiveContains("its log holds 3 commits") == true)
    // Nothing was made in its place.
    #expect(FileManager.default.fileExists(atPath: files.path) == !isMissing)
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite
import FirestoreTesting
import Foundation
import SeededRandom
import Synchronization
import Testing

@testable import FirestoreBackend

@Suite("Damaged backend data") struct DamagedDataTests {
  @Test("A flipped bit in the file is either detected or harmless")
  func everyPlace() async throws {
    let whole = TemporaryFolder()
    let contents = try await whole.fill(150)
    let size = try Data(contentsOf: URL(filePath: whole.file)).count
    var random = SeededGenerator(seed: 3)
    var told = 0

    for number in 0..<40 {
      let folder = try whole.copy()
      // The header as often as all other pages.
      let place = Int.random(in: 0..<(number.isMultiple(of: 6) ? 100 : size), using: &random)
      try folder.edit(folder.file) { $0[place] ^= 1 << UInt8(number % 8) }
      do {
        let backend = try makeBackend(.directory(folder.path))
        #expect(try await Contents(backend) == contents, "bit of byte \(place)")
      } catch let error as StoreError {
        #expect(error.kind == .corrupt, "\(error)")
        told += 1
      } catch let error as RPCStatus {
        #expect(error.code == .dataLoss, "\(error)")
        told += 1
      }
    }
    #expect(told > 10)
  }

  @Test("After damage nothing is written until a repair, even after a restart")
  func writesAreRefused() async throws {
    let folder = TemporaryFolder()
    _ = try await folder.fill()
    // The first page of a long document, far from everything else.
    let place = try #require(
      Data(contentsOf: URL(filePath: folder.file)).range(of: Data("x250 x250 x250 x250".utf8))?.lowerBound)
    try folder.edit(folder.file) { $0[place] ^= 4 }
    let reports = Mutex<[String]>([])
    do {
      let backend = try LocalBackend(
        BackendConfiguration(
          location: .directory(folder.path), now: TestClock().now,
          report: { line in reports.withLock { $0.append(line) } }))
      try await backend.commit(set("other/a", [:]))
      await #expect(throws: RPCStatus.self) { _ = try await backend.runQuery(query("c"), in: database) }
      let refusal = await #expect(throws: RPCStatus.self) { try await backend.commit(set("other/b", [:])) }
      #expect(refusal?.code == .dataLoss)
      #expect(refusal?.message.contains("hearth repair") == true)
      #expect(try await backend.read("other/a").exists)
      #expect(reports.withLock { $0.count } == 1)
    }
    let error = #expect(throws: StoreError.self) { _ = try makeBackend(.directory(folder.path)) }
    #expect(error?.kind == .corrupt)
  }

  @Test("An empty main file next to a WAL is reported as damage, and the WAL is kept")
  func emptyMainFile() async throws {
    let folder = TemporaryFolder()
    let backend = try makeBackend(.directory(folder.path))
    try await backend.commit(set("c/a", ["v": 1]))
    let killed = try folder.copy()
    let log = try Data(contentsOf: URL(filePath: killed.file + "-wal"))
    try killed.edit(killed.file) { $0.removeAll() }

    let error = #expect(throws: StoreError.self) { _ = try makeBackend(.directory(killed.path)) }

    #expect(error?.kind == .corrupt)
    #expect(error?.message.contains("is empty. Its log holds") == true)
    #expect(try Data(contentsOf: URL(filePath: killed.file + "-wal")) == log)
  }

  @Test("An empty file is damage, not an empty database")
  func emptyFile() async throws {
    let folder = TemporaryFolder()
    _ = try await folder.fill(20)
    try folder.edit(folder.file) { $0.removeAll() }

    let error = #expect(throws: StoreError.self) { _ = try makeBackend(.directory(folder.path)) }

    #expect(error?.status.code == .dataLoss)
    #expect(error?.message.contains("\(folder.file) is empty. Restore it from a copy.") == true)
    #expect(error?.message.contains("hearth repair --data \(folder.path)") == true)
    #expect(try Data(contentsOf: URL(filePath: folder.file)).isEmpty)
  }

  @Test("A missing file means a new database, even if a creation was interrupted")
  func neverThere() async throws {
    let folder = TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    for leftover in ["backend.sqlite3.creating", "backend.sqlite3.creating-wal"] {
      try Data(count: leftover.utf8.count).write(to: URL(filePath: folder.path + "/" + leftover))
    }

    let backend = try makeBackend(.directory(folder.path))
    try await backend.commit(set("c/a", ["v": 1]))

    #expect(try await backend.read("c/a")["v"] == 1)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.contains("creating") }, "\(names)")
    // All tables are in the file already, should its log be lost.
    #expect(try Data(contentsOf: URL(filePath: folder.file)).count > 4096)
  }

  @Test("After its WAL is truncated or deleted, a database opens at an earlier commit")
  func cutLog() async throws {
    let folder = TemporaryFolder()
    do { try await makeBackend(.directory(folder.path)).commit(set("new/first", ["v": 0])) }
    let backend = try makeBackend(.directory(folder.path))
    for number in 0..<30 { try await backend.commit(set("new/d\(number)", ["v": .integer(Int64(number))])) }
    let killed = try folder.copy()
    let log = try Data(contentsOf: URL(filePath: killed.file + "-wal"))
    let seed: UInt64 = 7
    var random = SeededGenerator(seed: seed)

    for round in 0..<13 {
      let length = round == 0 ? 0 : Int.random(in: 0..<log.count, using: &random)
      let cut = try killed.copy()
      try cut.edit(cut.file + "-wal") { $0 = log.prefix(length) }
      let left = try makeBackend(.directory(cut.path))
      let found = try await left.runQuery(query("new"), in: database).map(\.key.documentID)

      // The first document is in the database itself, and the others came one after the other.
      let expected = ["first"] + (0..<max(found.count - 1, 0)).map { "d\($0)" }
      #expect(Set(found) == Set(expected), "\(length) bytes, seed \(seed)")
      try await left.commit(set("new/after", [:]))
    }
  }

  @Test("A damaged WAL is reported once, and a repair restores commits after the damage")
  func damagedLog() async throws {
    let folder = TemporaryFolder()
    let backend = try makeBackend(.directory(folder.path))
    for number in 0..<30 { try await backend.commit(set("c/d\(number)", ["v": .integer(Int64(number))])) }
    let killed = try folder.copy()
    let log = try Data(contentsOf: URL(filePath: killed.file + "-wal"))
    try killed.edit(killed.file + "-wal") { $0[32 + (log.count / 4120 / 2) * 4120 + 2_000] ^= 1 }
    let reports = Mutex<[String]>([])
    func open() throws -> LocalBackend {
      try LocalBackend(
        BackendConfiguration(
          location: .directory(killed.path), now: TestClock().now,
          report: { line in reports.withLock { $0.append(line) } }))
    }

    do {
      let count = try await open().runQuery(query("c"), in: database).count
      #expect((1..<30).contains(count))
    }
    #expect(reports.withLock { $0.count { $0.contains("cannot be recovered") } } == 1)
    do { try await open().commit(set("c/later", [:])) }
    #expect(reports.withLock { $0.count { $0.contains("cannot be recovered") } } == 1)

    let repair = try DataRepair(directory: killed.path)
    #expect(repair.damage?.contains("backend.sqlite3-wal.damaged-1") == true)
    _ = try repair.run()
    let restored = try await open().runQuery(query("c"), in: database).map(\.key.documentID)
    #expect(Set(restored).isSuperset(of: ["later", "d0", "d29", "d20"]))
    #expect(restored.count >= 29)
    #expect(try DataRepair(directory: killed.path).damage == nil)
  }

  @Test("A power failure is reported once with the time of the last commit")
  func powerFailure() async throws {
    let folder = TemporaryFolder()
    let clock = TestClock(1_700_000_000_000_000)
    let reports = Mutex<[String]>([])
    func open(_ durability: BackendConfiguration.Durability) throws -> LocalBackend {
      try LocalBackend(
        BackendConfiguration(
          location: .directory(folder.path), durability: durability, now: clock.now,
          report: { line in if line.contains("stopped") { reports.withLock { $0.append(line) } } }))
    }
    let mark = folder.file + ".open"
    do {
      let backend = try open(.normal)
      try await backend.commit(set("c/a", [:]))
      #expect(FileManager.default.fileExists(atPath: mark))
    }
    #expect(!FileManager.default.fileExists(atPath: mark))

    try Data("another boot".utf8).write(to: URL(filePath: mark))
    do { _ = try await open(.normal).read("c/a") }
    #expect(reports.withLock { $0.count } == 1)
    #expect(reports.withLock { $0[0].contains("Commits after 2023-11-14T22:13:20") })
    // A commit that waits for the disk cannot be lost, so nothing is marked.
    do {
      let backend = try open(.full)
      try await backend.commit(set("c/b", [:]))
      #expect(!FileManager.default.fileExists(atPath: mark))
    }
    #expect(reports.withLock { $0.count } == 1)
  }

  @Test("A backend whose files were removed rejects commits and listens, but can be read")
  func takenAway() async throws {
    for victim in ["", "/backend.sqlite3", "/backend.sqlite3-wal"] {
      let folder = TemporaryFolder()
      let reports = Mutex<[String]>([])
      let backend = try LocalBackend(
        BackendConfiguration(
          location: .directory(folder.path), now: TestClock().now,
          report: { line in reports.withLock { $0.append(line) } }))
      try await backend.commit(set("c/a", ["v": 1]))
      var watch = await WatchDriver(backend)
      try await watch.add(2, query("c"))
      try await watch.receive()
      try FileManager.default.removeItem(atPath: folder.path + victim)

      await backend.lookAtFiles()
      let refusal = await #expect(throws: RPCStatus.self) { try await backend.commit(set("c/b", [:])) }

      #expect(refusal?.code == .unavailable)
      #expect(refusal?.message.contains(folder.path + victim) == true)
      #expect(reports.withLock { $0.count } == 1)
      // What is still there can be saved.
      #expect(try await backend.read("c/a")["v"] == 1)
      let request = await #expect(throws: RPCStatus.self) { try await watch.add(4, query("d")) }
      #expect(request == refusal)
    }
  }

  @Test("A backend whose folder was deleted does not touch the data that replaced it")
  func begunInItsPlace() async throws {
    let folder = TemporaryFolder()
    var old: LocalBackend? = try makeBackend(.directory(folder.path))
    try await old?.commit(set("c/old", ["v": 1]))
    try FileManager.default.removeItem(atPath: folder.path)
    let new = try makeBackend(.directory(folder.path))
    try await new.commit(set("c/new", ["v": 1]))
    let names = ["/backend.sqlite3", "/backend.sqlite3-wal", "/backend.sqlite3-shm", "/backend.sqlite3.open"]
    func numbers() -> [Int?] {
      names.map { name in
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path + name)
        return attributes?[.systemFileNumber] as? Int
      }
    }
    let before = numbers()
    #expect(!before.contains(nil))

    old = nil

    #expect(numbers() == before)
    #expect(try await new.read("c/new")["v"] == 1)
  }

  @Test("A private copy of the data can be read after its folder is deleted; commits fail")
  func privateCopy() async throws {
    let folder = TemporaryFolder()
    do { try await makeBackend(.directory(folder.path)).commit(set("c/a", ["v": 1])) }
    var configuration = BackendConfiguration(location: .directory(folder.path), now: TestClock().now)
    configuration.isPrivateCopy = true
    let backend = try LocalBackend(configuration)
    try FileManager.default.removeItem(atPath: folder.path)
    await backend.lookAtFiles()

    // The first read of a database writes its name.
    #expect(try await backend.read("c/a")["v"] == 1)
    let refusal = await #expect(throws: RPCStatus.self) { try await backend.commit(set("c/b", [:])) }
    #expect(refusal?.code == .failedPrecondition)
    #expect(try await backend.read("c/a")["v"] == 1)
  }

  @Test("A quota or file size limit counts as a full disk")
  func full() {
    for code in [ENOSPC, EDQUOT, EFBIG] {
      let error = StoreError(resultCode: 778, "disk I/O error", systemError: code, of: "data")
      #expect(error.kind == .diskFull)
    }
    #expect(StoreError(resultCode: 778, "disk I/O error", systemError: EIO, of: "data").kind == .sqlite)
  }

  @Test("A commit succeeds and notifies listeners even if cleanup fails")
  func pruningFails() async throws {
    let clock = TestClock()
    let backend = try makeBackend(clock: clock)
    for number in 0..<600 { try await backend.commit(set("c/a", ["v": .integer(Int64(number))])) }
    clock.advance(4_000_000_000)
    try await backend.run("CREATE TRIGGER full BEFORE DELETE ON history BEGIN SELECT RAISE(FAIL, 'full'); END")
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"))
    try await watch.receive()

    for number in 0..<600 { try await backend.commit(set("c/a", ["v": .integer(Int64(number))])) }

    #expect(try await backend.read("c/a")["v"] == 599)
    #expect(try await watch.messages().contains { $0.hasPrefix("DOC c/a") })
  }
}

extension LocalBackend {
  /// As the timer does, a second later.
  fileprivate func lookAtFiles() { try? log.file.openFiles?.check(at: OpenFiles.tick + 5) }

  fileprivate func run(_ sql: String) throws {
    try log.file.access { connection throws(StoreError) in try connection.execute(sql) }
  }
}

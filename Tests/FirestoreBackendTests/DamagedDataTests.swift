// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite
import FirestoreTesting
import Foundation
import SeededRandom
import Synchronization
import Testing

@testable import FirestoreBackend

@Suite("Damaged data of the backend") struct DamagedDataTests {
  @Test("One bit changed anywhere in the file is told, or changes nothing that anybody sees")
  func everyPlace() async throws {
    let whole = try TemporaryDirectory()
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

  @Test("After damage was met nothing is written until it was repaired, not after a restart either")
  func writesAreRefused() async throws {
    let folder = try TemporaryDirectory()
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

  @Test("An empty main file beside a log is told, and the log stays")
  func emptyMainFile() async throws {
    let folder = try TemporaryDirectory()
    let backend = try makeBackend(.directory(folder.path))
    try await backend.commit(set("c/a", ["v": 1]))
    let killed = try folder.copy()
    let log = try Data(contentsOf: URL(filePath: killed.file + "-wal"))
    try killed.edit(killed.file) { $0.removeAll() }

    let error = #expect(throws: StoreError.self) { _ = try makeBackend(.directory(killed.path)) }

    #expect(error?.kind == .corrupt)
    #expect(error?.message.contains("is empty, but its log holds") == true)
    #expect(try Data(contentsOf: URL(filePath: killed.file + "-wal")) == log)
  }

  @Test("Data of earlier versions gets checksums and loses nothing", arguments: [true, false])
  func withoutChecksums(_ wasKilled: Bool) async throws {
    let folder = try TemporaryDirectory()
    let contents = try await folder.fill(60)
    try folder.removeChecksums()
    #expect(BackendFile.Format(path: folder.file) == .unchecked)

    let upgraded = try folder.copy()
    // Of an upgrade that was interrupted.
    if wasKilled { try Data(count: 5_000).write(to: URL(filePath: upgraded.file + ".new")) }
    let backend = try makeBackend(.directory(upgraded.path))

    #expect(try await Contents(backend) == contents)
    #expect(BackendFile.Format(path: upgraded.file) == .checked)
    try await backend.commit(set("c/new", ["n": 1]))
    let names = try FileManager.default.contentsOfDirectory(atPath: upgraded.path)
    #expect(Set(names) == ["backend.sqlite3", "backend.sqlite3-wal", "lock"])
  }

  @Test("A quota or a limit of file sizes is a full disk")
  func full() {
    for code in [ENOSPC, EDQUOT, EFBIG] {
      let error = StoreError(resultCode: 778, "disk I/O error", systemError: code, of: "data")
      #expect(error.kind == .diskFull)
    }
    #expect(StoreError(resultCode: 778, "disk I/O error", systemError: EIO, of: "data").kind == .sqlite)
  }

  @Test("A commit stands when what is tidied up after it fails, and listeners are told")
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
  fileprivate func run(_ sql: String) throws {
    try log.file.access { connection throws(StoreError) in try connection.execute(sql) }
  }
}

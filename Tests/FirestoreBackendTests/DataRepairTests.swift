// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

@testable import FirestoreBackend

@Suite("Repairing damaged data") struct DataRepairTests {
  private func damage(_ folder: TemporaryFolder) throws -> String? {
    try DataRepair(directory: folder.path).damage
  }

  private func repair(_ folder: TemporaryFolder) throws -> DataRepair.Report {
    try DataRepair(directory: folder.path).run()
  }

  @Test("Intact data needs no repair")
  func nothingWrong() async throws {
    let folder = TemporaryFolder()
    let contents = try await folder.fill(40)
    #expect(try damage(folder) == nil)
    #expect(try await Contents(makeBackend(.directory(folder.path))) == contents)
  }

  @Test("A repair saves everything outside damaged pages and counts the losses")
  func everyPage() async throws {
    let whole = TemporaryFolder()
    let contents = try await whole.fill(90)
    let size = try Data(contentsOf: URL(filePath: whole.file)).count
    var random = SeededGenerator(seed: 11)
    var lost = 0

    for page in 0..<(size / 4096) where page < 12 || page.isMultiple(of: 6) {
      let folder = try whole.copy()
      let place = page * 4096 + Int.random(in: 0..<4096, using: &random)
      try folder.edit(folder.file) { $0[place] ^= 16 }
      let damaged = try Data(contentsOf: URL(filePath: folder.file))
      // A free page: nobody reads it, and nothing is wrong.
      if try self.damage(folder) == nil { continue }

      let report = try repair(folder)

      let saved = try await Contents(makeBackend(.directory(folder.path)))
      let missing = contents.documents.filter { saved.documents[$0.key] == nil }
      #expect(saved.documents.allSatisfy { contents.documents[$0.key] == $0.value }, "page \(page)")
      #expect(missing.count <= report.missing.values.reduce(0, +) + report.unnamed, "page \(page)")
      #expect(report.isComplete == missing.isEmpty, "page \(page)")
      #expect(missing.count < 100, "page \(page)")
      #expect(report.kept == folder.file + ".damaged-1")
      #expect(try Data(contentsOf: URL(filePath: report.kept)) == damaged)
      lost += missing.count
      #expect(try self.damage(folder) == nil)
    }
    #expect(lost > 0)
  }

  @Test("A repair saves the commits after a damaged WAL frame")
  func behindDamageInLog() async throws {
    let folder = TemporaryFolder()
    let backend = try makeBackend(.directory(folder.path))
    for number in 0..<30 { try await backend.commit(set("c\(number)/a", ["v": .integer(Int64(number))])) }
    let killed = try folder.copy()
    let log = try Data(contentsOf: URL(filePath: killed.file + "-wal"))
    // Some frame in the middle.
    try killed.edit(killed.file + "-wal") { $0[32 + (log.count / 4120 / 2) * 4120 + 2_000] ^= 1 }
    do { _ = try makeBackend(.directory(killed.path)) }

    let report = try repair(killed)

    let revived = try makeBackend(.directory(killed.path))
    #expect(report.lostChanges == 1)
    #expect(try await revived.read("c29/a")["v"] == 29)
    #expect(report.documents >= 29)
    #expect(FileManager.default.fileExists(atPath: report.kept + "-wal.damaged-1"))
  }

  @Test("An empty file next to its WAL is restored from the WAL")
  func emptyMainFile() async throws {
    let folder = TemporaryFolder()
    let backend = try makeBackend(.directory(folder.path))
    for number in 0..<30 { try await backend.commit(set("c/d\(number)", ["v": .integer(Int64(number))])) }
    let killed = try folder.copy()
    try killed.edit(killed.file) { $0.removeAll() }

    let report = try repair(killed)

    #expect(report.isComplete && report.documents == 30)
    #expect(try await Contents(makeBackend(.directory(killed.path))) == Contents(backend))
  }

  @Test("A repair that recovers nothing does not report success", arguments: [0, 8_192])
  func nothingToSave(_ size: Int) async throws {
    let folder = TemporaryFolder()
    _ = try await folder.fill(10)
    var random = SeededGenerator(seed: 4)
    let noise = Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
    try noise.write(to: URL(filePath: folder.file))
    #expect(try damage(folder) != nil)

    let report = try repair(folder)

    #expect(report.documents == 0 && report.isEmpty && !report.isComplete)
    #expect(try Data(contentsOf: URL(filePath: report.kept)) == noise)
    #expect(try damage(folder) == nil)
  }

  @Test("After a repair, commit times still increase, and retries are applied only once")
  func afterwards() async throws {
    let folder = TemporaryFolder()
    let request = WriteRequestID(clientID: [1], batchID: BatchID(1))
    var (token, last): (ResumeToken?, SnapshotVersion?)
    do {
      let backend = try makeBackend(.directory(folder.path))
      try await backend.commit([transform("c/a", .increment(1))], in: database, request: request)
      var watch = await WatchDriver(backend)
      try await watch.add(2, query("c"))
      try await watch.receive()
      token = watch.client.token
      last = try await backend.readTime(of: database)
    }
    try folder.edit(folder.file) { $0[60] ^= 1 }
    _ = try repair(folder)

    let backend = try makeBackend(.directory(folder.path))
    try await backend.commit([transform("c/a", .increment(1))], in: database, request: request)
    #expect(try await backend.read("c/a")["v"] == 1)
    #expect(try await backend.readTime(of: database) > (try #require(last)))
    var watch = await WatchDriver(backend)
    try await watch.add(2, query("c"), resume: .token(try #require(token)), expectedCount: 1)
    #expect(try await watch.messages().contains("RESET [2]"))
  }

  @Test("The next repair finishes an interrupted repair; until then the data stays closed")
  func interrupted() async throws {
    let folder = TemporaryFolder()
    let contents = try await folder.fill(20)
    try FileManager.default.moveItem(atPath: folder.file, toPath: folder.file + ".repaired")
    #expect(throws: StoreError.self) { _ = try makeBackend(.directory(folder.path)) }

    _ = try repair(folder)

    #expect(try await Contents(makeBackend(.directory(folder.path))) == contents)
  }
}

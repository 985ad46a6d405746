// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Synchronization
import Testing

@testable import FirestoreSQLite

@Suite("Files of an open database") struct OpenFilesTests {
  private static func made() throws -> (TemporaryFolder, DatabaseFiles) {
    let directory = TemporaryFolder()
    try directory.make()
    let files = DatabaseFiles(path: directory.path + "/data")
    for file in [files.path, files.log] { try Data("x".utf8).write(to: URL(filePath: file)) }
    return (directory, files)
  }

  private static func loss(_ open: OpenFiles, at tick: Int64) -> StoreError? {
    do throws(StoreError) { try open.check(at: tick) } catch { return error }
    return nil
  }

  @Test("A deleted or replaced file is reported once, within a second")
  func taken() throws {
    for victim in ["", "/data", "/data-wal"] {
      for isReplaced in [false, true] {
        let (directory, files) = try Self.made()
        let told = Mutex<[StoreError]>([])
        let open = try #require(OpenFiles(files, consequence: "that is the end."))
        open.observe { loss in told.withLock { $0.append(loss) } }
        let now = OpenFiles.tick
        #expect(Self.loss(open, at: now + 100) == nil)
        // Its number is not free again before the other one is there.
        let place = directory.path + victim
        try FileManager.default.moveItem(atPath: place, toPath: place + ".aside")
        if isReplaced {
          if victim.isEmpty { try directory.make() } else { try Data().write(to: URL(filePath: place)) }
        }
        try FileManager.default.removeItem(atPath: place + ".aside")

        #expect(Self.loss(open, at: now + 100) == nil, "the same second")
        let loss = Self.loss(open, at: now + 101)
        #expect(loss?.kind == .gone)
        #expect(loss?.message.contains(directory.path + victim) == true)
        #expect(loss?.message.hasSuffix(": that is the end.") == true)
        #expect(Self.loss(open, at: now + 101) == loss && open.loss == loss)
        #expect(told.withLock { $0 } == [loss])
      }
    }
  }

  @Test("Renaming or replacing the folder counts as a loss of the files", arguments: [false, true])
  func renamed(isReplaced: Bool) throws {
    let (directory, files) = try Self.made()
    let open = try #require(OpenFiles(files, consequence: ""))
    let now = OpenFiles.tick
    let elsewhere = directory.path + ".renamed"
    defer { try? FileManager.default.removeItem(atPath: elsewhere) }
    #expect(Self.loss(open, at: now + 100) == nil)
    try FileManager.default.moveItem(atPath: directory.path, toPath: elsewhere)
    if isReplaced { try FileManager.default.copyItem(atPath: elsewhere, toPath: directory.path) }
    let loss = Self.loss(open, at: now + 101)
    #expect(loss?.kind == .gone && loss?.message.contains("\(directory.path) was renamed or replaced") == true)
  }

  @Test("A WAL that is created later is watched from then on")
  func laterLog() throws {
    let (directory, files) = try Self.made()
    defer { withExtendedLifetime(directory) {} }
    try FileManager.default.removeItem(atPath: files.log)
    let open = try #require(OpenFiles(files, consequence: ""))
    let now = OpenFiles.tick
    try Data().write(to: URL(filePath: files.log))
    #expect(Self.loss(open, at: now + 101) == nil)
    try FileManager.default.removeItem(atPath: files.log)
    #expect(Self.loss(open, at: now + 102)?.kind == .gone)
  }

  @Test("A lost file is reported without polling")
  func told() async throws {
    let (directory, files) = try Self.made()
    defer { try? FileManager.default.removeItem(atPath: directory.path) }
    let (losses, continuation) = AsyncStream.makeStream(of: StoreError.self)
    let open = try #require(OpenFiles(files, consequence: "that is the end."))
    open.watch { continuation.yield($0) }
    try FileManager.default.removeItem(atPath: files.path)
    var iterator = losses.makeAsyncIterator()
    let loss = try #require(await iterator.next())
    #expect(loss.kind == .gone && loss.message.contains(files.path))
    #expect(open.loss == loss)
  }

  @Test("Closing a database deletes its WAL without reporting a loss")
  func closed() throws {
    let (directory, files) = try Self.made()
    defer { try? FileManager.default.removeItem(atPath: directory.path) }
    let told = Mutex(0)
    let open = try #require(OpenFiles(files, consequence: ""))
    open.observe { _ in told.withLock { $0 += 1 } }
    let now = OpenFiles.tick
    #expect(Self.loss(open, at: now + 100) == nil)
    open.end()
    try FileManager.default.removeItem(atPath: files.log)
    #expect(Self.loss(open, at: now + 101) == nil)
    #expect(open.loss == nil && told.withLock { $0 } == 0)
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

/// The files of a cache before SQLite opens them.
@Suite("The directory of a cache") struct StoreDirectoryTests {
  /// A cache as a killed process leaves it: one write in the database, four more in its log.
  private func killed() throws -> Place {
    let place = Place(.durable)
    var store = try place.open()
    _ = try store.write([set("rooms/0", [:])], at: now)
    store.close()
    store = try place.open()
    for number in 1...4 { _ = try store.write([set("rooms/\(number)", [:])], at: now) }
    let copy = Place(.durable)
    try FileManager.default.copyItem(atPath: place.path, toPath: copy.path)
    store.close()
    return copy
  }

  private func failure(_ place: Place) -> StoreError? {
    do { try place.open().close() } catch { return error as? StoreError }
    return nil
  }

  private func contents(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test("One bit anywhere in the log is damage that is told, and what waits is kept", arguments: 0..<12)
  func bitInLog(_ number: Int) throws {
    let place = try killed()
    let log = place.databasePath + "-wal"
    var bytes = try contents(log)
    var random = SeededGenerator(seed: UInt64(number))
    bytes[Int.random(in: bytes.count * number / 12..<bytes.count * (number + 1) / 12, using: &random)] ^= 0x10
    try bytes.write(to: URL(filePath: log))

    let error = failure(place)
    let store = LocalStore(openingOrFallingBack: place.configuration())
    let pending = try store.pendingBatches().count
    let message = store.fallback?.message ?? ""
    store.close()

    #expect(error?.kind == .corrupt)
    #expect(message.contains("has been moved to \(place.databasePath).damaged-1; a new one was begun"))
    #expect(message.contains("have not been sent") && message.contains("\(log) is damaged"))
    #expect(pending == 0)
    #expect(try contents(place.databasePath + ".damaged-1-wal") == bytes)

    // The way out that the message names.
    #expect(message.contains("Alone in a directory of its own, as cache.sqlite3"))
    let earlier = Place(.durable)
    try FileManager.default.createDirectory(atPath: earlier.path, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: place.databasePath + ".damaged-1", toPath: earlier.databasePath)
    let found = try earlier.open()
    #expect(try found.pendingBatches().map(\.id) == [BatchID(1)])
    found.close()
  }

  @Test("What a process leaves that is killed while it writes is no damage")
  func tornLog() throws {
    for missing in [1, 4000, 4097, 4119, 4120, 4121] {
      let place = try killed()
      let log = place.databasePath + "-wal"
      try contents(log).dropLast(missing).write(to: URL(filePath: log))

      let store = try place.open()
      let pending = try store.pendingBatches().map(\.id.rawValue)
      #expect(pending == Array(1...Int64(pending.count)) && (1...4).contains(pending.count), "\(missing) missing")
      store.close()
    }
  }

  @Test("A log without its database is damage: both are kept under one name", arguments: ["missing", "empty"])
  func logAlone(_ state: String) throws {
    let place = try killed()
    try FileManager.default.removeItem(atPath: place.databasePath)
    if state == "empty" { _ = FileManager.default.createFile(atPath: place.databasePath, contents: nil) }
    let log = try contents(place.databasePath + "-wal")

    #expect(LocalStore.exists(in: place.path))
    let reason = failure(place)?.message ?? ""
    #expect(reason.contains("cache.sqlite3 is \(state), but its log holds") && !reason.contains("Alone"), "\(reason)")
    let store = LocalStore(openingOrFallingBack: place.configuration())
    let pending = try store.pendingBatches().count
    let message = store.fallback?.message ?? ""
    store.close()

    #expect(message.contains("has been moved to \(place.databasePath).damaged-1; a new one was begun"))
    #expect(message.contains("have not been sent"))
    #expect(pending == 0)
    #expect(try contents(place.databasePath + ".damaged-1-wal") == log)
  }

  @Test("A second damaged cache is kept beside the first")
  func damagedTwice() throws {
    let place = try killed()
    for number in 1...2 {
      try Data(repeating: 0xFF, count: 8192).write(to: URL(filePath: place.databasePath))
      let store = LocalStore(openingOrFallingBack: place.configuration())
      #expect(store.movedAside == place.databasePath + ".damaged-\(number)")
      store.close()
    }
  }

  @Test("A cache that others could read is narrowed, and that is said")
  func narrowed() throws {
    let place = try killed()
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place.path)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: place.databasePath)
    let notices = Notices()
    var configuration = place.configuration()
    configuration.report = { notices.add($0) }

    try LocalStore(configuration).close()

    #expect(notices.texts.contains("The cache directory \(place.path) was open to others (mode 0755); it is 0700 now."))
    #expect(notices.texts.contains("\(place.databasePath) was open to others (mode 0644); it is 0600 now."))
    #expect(try mode(place.path) == 0o700)
    #expect(try mode(place.databasePath) == 0o600)
  }

  @Test("A link in the place of a file is not followed: the store is in memory, and the file stays as it is")
  func link() throws {
    let (place, victim) = (try killed(), try killed())
    let before = try contents(victim.databasePath)
    try FileManager.default.removeItem(atPath: place.databasePath)
    try FileManager.default.createSymbolicLink(atPath: place.databasePath, withDestinationPath: victim.databasePath)

    var store = LocalStore(openingOrFallingBack: place.configuration())
    _ = try store.write([set("rooms/a", [:])], at: now)

    #expect(store.fallback?.kind == .notPrivate)
    #expect(store.fallback?.message.contains("\(place.databasePath) is a symbolic link") == true)
    #expect(store.movedAside == nil)
    #expect(try contents(victim.databasePath) == before)
    store.close()
  }
}

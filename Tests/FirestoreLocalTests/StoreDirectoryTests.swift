// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

@testable import FirestoreLocal

/// The files of a cache before SQLite opens them.
@Suite("Cache directory") struct StoreDirectoryTests {
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

  @Test("A flipped bit in the WAL loses only the writes after it", arguments: 0..<12)
  func bitInLog(_ number: Int) throws {
    let place = try killed()
    let log = place.databasePath + "-wal"
    var bytes = try contents(log)
    var random = SeededGenerator(seed: UInt64(number))
    bytes[Int.random(in: bytes.count * number / 12..<bytes.count * (number + 1) / 12, using: &random)] ^= 0x10
    try bytes.write(to: URL(filePath: log))
    let notices = Notices()
    var configuration = place.configuration()
    configuration.report = { notices.add($0) }

    let store = LocalStore(openingOrFallingBack: configuration)
    let pending = try store.pendingBatches().map(\.id.rawValue)
    let fallback = store.fallback
    store.close()

    // The write in the database is never lost, and the others are lost in order.
    #expect(fallback == nil)
    #expect(pending == Array(1...Int64(pending.count)) && (1...5).contains(pending.count))
    let kept = place.databasePath + "-wal.damaged-1"
    if notices.texts.isEmpty {
      #expect(pending.count >= 4)
    } else {
      #expect(notices.texts.count == 1 && notices.texts[0].contains("A copy of the log is at \(kept)."))
      #expect(try contents(kept) == bytes)
    }
  }

  @Test("An empty cache file is damage and is moved aside with a notice")
  func emptyFile() throws {
    let place = Place(.durable)
    var store = try place.open()
    _ = try store.write([set("rooms/0", [:])], at: now)
    store.close()
    try Data().write(to: URL(filePath: place.databasePath))

    let error = failure(place)
    store = LocalStore(openingOrFallingBack: place.configuration())
    let (message, aside) = (store.fallback?.message ?? "", store.movedAside)
    store.close()

    #expect(error?.kind == .corrupt && error?.code == .dataLoss)
    #expect(message.contains("\(place.databasePath) is empty.") && message.contains("have not been sent"), "\(message)")
    #expect(aside == place.databasePath + ".damaged-1")
    #expect(failure(place) == nil)
  }

  @Test("A cache whose files are removed rejects new writes but completes pending ones")
  func takenAway() throws {
    for isShared in [false, true] {
      let place = Place(.durable)
      let notices = Notices()
      var configuration = place.configuration()
      configuration.isShared = isShared
      configuration.report = { notices.add($0) }
      var store = try LocalStore(configuration)
      let batch = try store.write([set("rooms/0", [:])], at: now).batchID
      try FileManager.default.removeItem(atPath: place.path)

      try? store.database.openFiles?.check(at: OpenFiles.tick + 5)
      var refusal: StoreError?
      do { _ = try store.write([set("rooms/1", [:])], at: now) } catch { refusal = error }

      #expect(refusal?.kind == .gone && refusal?.code == .dataLoss)
      #expect(refusal?.message.contains(place.path) == true)
      #expect(store.loss == refusal)
      #expect(notices.texts.filter { $0 == refusal?.message }.count == 1)
      #expect(try store.pendingBatches().map(\.id) == [batch])
      _ = try store.acknowledge(batch, commit(at: 5))
      #expect(try store.pendingBatches().isEmpty)
      store.close()
    }
  }

  @Test("A flipped bit in the file is either detected or harmless")
  func bitInFile() throws {
    let whole = Place(.durable)
    var store = try whole.open()
    _ = try store.apply(event(at: 1, (0..<120).map { doc("rooms/\($0)", at: 1, ["n": .integer(Int64($0))]) }))
    _ = try store.write([patch("rooms/1", ["n": .integer(7)])], at: now)
    let expected = try store.execute(Query(path: ResourcePath("rooms")), usingPreviousResults: false).documents
    store.close()
    let bytes = try contents(whole.databasePath)
    let seed: UInt64 = 12
    var random = SeededGenerator(seed: seed)
    var told = 0

    for _ in 0..<60 {
      let bit = Int.random(in: 0..<bytes.count * 8, using: &random)
      let place = Place(.durable)
      try FileManager.default.copyItem(atPath: whole.path, toPath: place.path)
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      try changed.write(to: URL(filePath: place.databasePath))
      do {
        let store = try place.open()
        let found = try store.execute(Query(path: ResourcePath("rooms")), usingPreviousResults: false).documents
        #expect(found == expected, "bit \(bit), seed \(seed)")
        store.close()
      } catch let error as StoreError {
        #expect(error.kind == .corrupt, "bit \(bit), seed \(seed): \(error)")
        told += 1
      }
    }
    #expect(told > 10)
  }

  @Test("A truncated WAL keeps the writes before the cut")
  func tornLog() throws {
    for missing in [1, 4000, 4097, 4119, 4120, 4121, 1 << 20] {
      let place = try killed()
      let log = place.databasePath + "-wal"
      try contents(log).dropLast(missing).write(to: URL(filePath: log))

      let store = try place.open()
      let pending = try store.pendingBatches().map(\.id.rawValue)
      #expect(pending == Array(1...Int64(pending.count)) && (1...4).contains(pending.count), "\(missing) missing")
      store.close()
    }
  }

  @Test("A WAL without its database is damage, and both files are moved together", arguments: ["missing", "empty"])
  func logAlone(_ state: String) throws {
    let place = try killed()
    try FileManager.default.removeItem(atPath: place.databasePath)
    if state == "empty" { _ = FileManager.default.createFile(atPath: place.databasePath, contents: nil) }
    let log = try contents(place.databasePath + "-wal")

    #expect(LocalStore.exists(in: place.path))
    let reason = failure(place)?.message ?? ""
    #expect(reason.contains("cache.sqlite3 is \(state)") && reason.contains("ts log holds"), "\(reason)")
    let store = LocalStore(openingOrFallingBack: place.configuration())
    let pending = try store.pendingBatches().count
    let message = store.fallback?.message ?? ""
    store.close()

    #expect(message.contains("has been moved to \(place.databasePath).damaged-1. A new cache was created"))
    #expect(message.contains("have not been sent"))
    #expect(pending == 0)
    #expect(try contents(place.databasePath + ".damaged-1-wal") == log)
  }

  @Test("A second damaged cache is moved aside under a different name than the first")
  func damagedTwice() throws {
    let place = try killed()
    for number in 1...2 {
      try Data(repeating: 0xFF, count: 8192).write(to: URL(filePath: place.databasePath))
      let store = LocalStore(openingOrFallingBack: place.configuration())
      #expect(store.movedAside == place.databasePath + ".damaged-\(number)")
      store.close()
    }
  }

  @Test("A cache that other users can read becomes private with a notice")
  func narrowed() throws {
    let place = try killed()
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place.path)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: place.databasePath)
    let notices = Notices()
    var configuration = place.configuration()
    configuration.report = { notices.add($0) }

    try LocalStore(configuration).close()

    #expect(
      notices.texts.contains(
        "The cache directory \(place.path) was open to other users (mode 0755). Its mode is now 0700."))
    #expect(notices.texts.contains("\(place.databasePath) was open to other users (mode 0644). Its mode is now 0600."))
    #expect(try mode(place.path) == 0o700)
    #expect(try mode(place.databasePath) == 0o600)
  }

  @Test("A symbolic link in place of a file is not followed, and the store uses memory")
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

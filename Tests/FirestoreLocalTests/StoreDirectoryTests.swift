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

  @Test("A log that lost its end, or is gone, is told with what was in it, and kept")
  func cutLog() throws {
    for missing in [1, 4000, 4097, 4119, 4120, 4121, Int.max] {
      let place = try killed()
      let log = place.databasePath + "-wal"
      let rest = try contents(log).dropLast(missing)
      try rest.write(to: URL(filePath: log))

      let store = LocalStore(openingOrFallingBack: place.configuration())
      let message = store.fallback?.message ?? ""
      store.close()

      #expect(message.contains("of commits") && message.contains("have not been sent"), "\(missing): \(message)")
      #expect(try contents(place.databasePath + ".damaged-1-wal") == rest)
    }
  }

  @Test("An empty cache is a damaged one: it is moved aside, and that is said")
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
    #expect(message.contains("\(place.databasePath) is empty") && message.contains("have not been sent"), "\(message)")
    #expect(aside == place.databasePath + ".damaged-1")
    #expect(failure(place) == nil)
  }

  @Test("A cache that is taken away while it is open takes no more writes, and still lets go of those that wait")
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

  @Test("A cache of a version without checksums of pages is opened, gets them, and loses nothing")
  func withoutPageChecksums() throws {
    let place = Place(.durable)
    var store = try place.open()
    _ = try store.write([set("rooms/0", ["n": .integer(1)])], at: now)
    store.close()
    try place.removePageChecksums()
    #expect(PageFormat(path: place.databasePath) == .unchecked)

    store = try place.open()
    let pending = try store.pendingBatches().map(\.id)
    let violations = try store.checkInvariants()
    store.close()

    #expect(pending == [BatchID(1)])
    #expect(violations == [])
    #expect(PageFormat(path: place.databasePath) == .checked)
  }

  @Test("One bit anywhere in the file hides nothing: it is told, or nothing is different")
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

  /// Where commits end in a log can only be known from the outside: without that, a cut is a torn write.
  @Test("What a process leaves that is killed while it writes is no damage")
  func tornLog() throws {
    for missing in [1, 4000, 4097, 4119, 4120, 4121] {
      let place = try killed()
      try FileManager.default.removeItem(atPath: place.databasePath + ".log-end")
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

extension Place {
  /// Replaces the closed cache by a file as earlier versions wrote it: the same tables, no checksums at the end of pages.
  fileprivate func removePageChecksums() throws {
    let plain = path + "/plain"
    let connection = try Connection(path: plain, called: "cache")
    try Schema.prepare(connection, isFile: false)
    try connection.execute("ATTACH '\(databasePath)' AS old")
    let tables = try connection.all(
      "SELECT name FROM old.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ) { $0.text(0) }
    for table in tables { try connection.execute("INSERT INTO main.\(table) SELECT * FROM old.\(table)") }
    try connection.execute("DROP TABLE main.retentions; PRAGMA main.user_version = 7")
    connection.close()
    for file in [databasePath, databasePath + ".log-end"] { try FileManager.default.removeItem(atPath: file) }
    try FileManager.default.moveItem(atPath: plain, toPath: databasePath)
  }
}

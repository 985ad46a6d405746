// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Foundation
import SeededRandom
import Testing

@Suite("Opening a durable cache")
struct OpeningTests {
  private func failure(_ place: Place) -> StoreError? {
    do {
      _ = try LocalStore(place.configuration())
      return nil
    } catch {
      return error
    }
  }

  @Test("Documents, pending writes and overlays survive a restart (S10)")
  func restart() throws {
    let place = Place(.durable)
    var store = try place.open()
    try store.start(user: "ada")
    let target = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 5, [doc("rooms/a", at: 5, ["x": .integer(0)])], addedTo: target))
    let batch = try store.write([patch("rooms/a", ["y": .integer(1)])], at: now).batchID
    let view = try store.document(key("rooms/a"))
    store.close()

    store = try place.open()
    try store.start(user: "ada")

    let read = try store.document(key("rooms/a"))
    let pending = try store.pendingBatches()
    let last = try store.lastRemoteSnapshotVersion()
    #expect(read == view)
    #expect(read?.hasLocalMutations == true)
    #expect(pending.map(\.id) == [batch])
    #expect(last == version(5))
    _ = try store.reject(batch)
    let later = try store.write([set("rooms/b", [:])], at: now).batchID
    #expect(later > batch)
  }

  @Test("Opening a cache for the same user and reading from it writes nothing")
  func readingOnly() throws {
    let place = Place(.durable)
    var store = try place.open()
    try store.start(user: "ada")
    _ = try store.write([set("rooms/a", [:])], at: now)
    store.close()

    store = try place.open()
    try store.start(user: "ada")
    let read = try store.document(key("rooms/a"))
    let log = try Data(contentsOf: URL(filePath: place.databasePath + "-wal"))
    #expect(read != nil)
    #expect(log.isEmpty)
    store.close()
  }

  @Test("A write is on disk before the call returns, and survives a kill (S10)")
  func crash() throws {
    let place = Place(.durable)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 5, [doc("rooms/a", at: 5)], addedTo: target, token: token("t")))
    let batch = try store.write([set("rooms/b", ["x": .integer(1)])], at: now).batchID

    // The files as the kernel has them while the store is still open.
    let copy = Place(.durable)
    try FileManager.default.copyItem(atPath: place.path, toPath: copy.path)
    let survivor = try copy.open()

    let pending = try survivor.pendingBatches()
    let view = try survivor.document(key("rooms/b"))
    let known = try survivor.targetData(for: collection("rooms").target)
    let members = try survivor.remoteKeys(of: target)
    #expect(pending.map(\.id) == [batch])
    #expect(view?.hasLocalMutations == true)
    #expect(known?.resumeToken == token("t"))
    #expect(members == [key("rooms/a")])
    store.close()
  }

  @Test("A store can be transferred to an actor")
  func actor() async throws {
    actor Owner {
      private var store: LocalStore
      init(_ store: consuming sending LocalStore) { self.store = store }
      func write() throws -> BatchID { try store.write([set("rooms/a", [:])], at: now).batchID }
    }
    let place = Place(.durable)
    let owner = Owner(LocalStore(openingOrFallingBack: place.configuration()))

    let batch = try await owner.write()

    #expect(batch == BatchID(1))
  }

  @Test("A batch keeps its request id after a restart")
  func batchIdentity() throws {
    let place = Place(.durable)
    var store = try place.open()
    _ = try store.write([set("rooms/a", [:])], at: now)
    let batch = try #require(try store.nextBatch(after: nil))
    let id = store.requestID(of: batch)
    store.close()

    store = try place.open()
    let same = store.requestID(of: try #require(try store.nextBatch(after: nil)))
    let later = try store.write([set("rooms/a", [:])], at: now).batchID
    let other = store.requestID(of: try #require(try store.nextBatch(after: batch.id)))

    #expect(same == id)
    #expect(other.batchID == later)
    #expect(other.clientID != id.clientID)
  }

  @Test("Each user has a separate client id, under which a server stores responses")
  func senders() throws {
    var store = try Place(.durable).open()
    _ = try store.write([set("rooms/a", [:])], at: now)
    let signedOut = store.requestID(of: try #require(try store.pendingBatches().last))
    _ = try store.start(user: "ada")
    _ = try store.write([set("rooms/a", [:])], at: now)
    let signedIn = store.requestID(of: try #require(try store.pendingBatches().last))

    #expect(signedIn.clientID != signedOut.clientID)
    #expect(WriteRequestID(label: signedIn.label) == signedIn)
  }

  @Test("After its WAL is truncated, a cache reuses a batch number but no request id")
  func cutLog() throws {
    let place = Place(.durable)
    var store = try place.open()
    _ = try store.write([set("rooms/a", [:])], at: now)
    let log = place.databasePath + "-wal"
    let size = try #require(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
    let lost = try store.write([set("rooms/b", [:])], at: now).batchID
    let lostID = store.requestID(of: try #require(try store.pendingBatches().last))
    // As after a power failure: the machine never wrote the end of the log.
    let copy = Place(.durable)
    try FileManager.default.copyItem(atPath: place.path, toPath: copy.path)
    store.close()
    let handle = try #require(FileHandle(forWritingAtPath: copy.databasePath + "-wal"))
    try handle.truncate(atOffset: UInt64(size))
    try handle.close()

    store = try copy.open()
    let pending = try store.pendingBatches().count
    let again = try store.write([set("rooms/c", [:])], at: now).batchID
    let id = store.requestID(of: try #require(try store.pendingBatches().last))

    #expect(pending == 1)
    #expect(again == lost)
    #expect(id != lostID)
  }

  @Test("A batch number is not reused after a restart")
  func batchNumbers() throws {
    let place = Place(.durable)
    var store = try place.open()
    let first = try store.write([set("rooms/a", [:])], at: now).batchID
    _ = try store.acknowledge(first, commit(at: 1))
    store.close()

    store = try place.open()
    let second = try store.write([set("rooms/a", [:])], at: now).batchID

    #expect(second > first)
  }

  @Test("The cache directory is private")
  func permissions() throws {
    let place = Place(.durable)
    let store = try place.open()

    let attributes = try FileManager.default.attributesOfItem(atPath: place.path)

    #expect(attributes[.posixPermissions] as? Int == 0o700)
    store.close()
  }

  @Test("A second store on a directory fails, or uses memory on request")
  func locked() throws {
    let place = Place(.durable)
    let store = try place.open()

    let error = failure(place)
    var other = LocalStore(openingOrFallingBack: place.configuration())

    #expect(error?.kind == .locked)
    #expect(error?.code == .failedPrecondition)
    #expect(error?.message.contains(place.path) == true)
    #expect(other.fallback == error)
    #expect(other.movedAside == nil)
    let written = try other.write([set("rooms/a", [:])], at: now)
    #expect(written.changes.count == 1)
    store.close()
    #expect(failure(place) == nil)
  }

  @Test("A file that is not a database is moved aside and replaced")
  func garbage() throws {
    let place = Place(.durable)
    try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: true)
    let garbage = Data("this is not a database, but long enough to be looked at".utf8)
    try garbage.write(to: URL(fileURLWithPath: place.databasePath))

    let error = failure(place)
    var store = LocalStore(openingOrFallingBack: place.configuration())
    let batch = try store.write([set("rooms/a", [:])], at: now).batchID
    let aside = store.movedAside
    let fallback = store.fallback
    store.close()
    let reopened = try place.open()
    let pending = try reopened.pendingBatches().last?.id

    #expect(error?.kind == .corrupt)
    #expect(error?.code == .dataLoss)
    #expect(aside == place.databasePath + ".damaged-1")
    #expect(fallback?.kind == .corrupt)
    #expect(try Data(contentsOf: URL(fileURLWithPath: place.databasePath + ".damaged-1")) == garbage)
    #expect(pending == batch)
  }

  @Test(
    "A missing table, column or index is reported immediately as damage",
    arguments: [
      ("DROP TABLE bundles", "bundles"), ("ALTER TABLE targets RENAME COLUMN members TO others", "targets.members"),
      ("DROP INDEX documents_by_key", "documents_by_key"),
    ])
  func lacking(statement: String, name: String) throws {
    let place = Place(.durable)
    try place.open().close()
    try Connection(path: PageChecksums.uri(of: place.databasePath), called: "cache").execute(statement)

    let error = failure(place)

    #expect(error?.kind == .corrupt)
    #expect(error?.message.hasPrefix("The cache is damaged: it lacks \(name)") == true, "\(error?.message ?? "")")
  }

  @Test("Changed bytes are detected when read, and the file is moved aside at restart")
  func flippedByte() throws {
    let place = Place(.durable)
    var store = try place.open()
    let marker = "a text that is easily found again"
    _ = try store.apply(event(at: 1, [doc("rooms/a", at: 1, ["x": .string(marker)])]))
    store.close()
    let url = URL(fileURLWithPath: place.databasePath)
    var bytes = try Data(contentsOf: url)
    let range = try #require(bytes.range(of: Data(marker.utf8)))
    bytes[range.lowerBound] ^= 0x20
    try bytes.write(to: url)

    store = try place.open()
    var kind: StoreError.Kind?
    do { _ = try store.document(key("rooms/a")) } catch { kind = error.kind }
    store.close()
    let next = LocalStore(openingOrFallingBack: place.configuration())

    #expect(kind == .corrupt)
    #expect(next.movedAside == place.databasePath + ".damaged-1")
  }

  @Test("Random changes to a database file never crash the store", arguments: 1...TestSize.count(20, full: 40))
  func fuzzedFile(_ number: Int) throws {
    let place = Place(.durable)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(
      event(at: 1, (0..<50).map { doc("rooms/\($0)", at: 1, ["x": .integer(Int64($0))]) }, addedTo: target))
    _ = try store.write([patch("rooms/1", ["y": .integer(1)]), set("halls/2", ["z": .null])], at: now)
    store.close()
    let url = URL(fileURLWithPath: place.databasePath)
    var bytes = try Data(contentsOf: url)
    let seed = UInt64(number)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    try bytes.write(to: url)

    // Any typed error will do; what must not happen is a trap.
    store = LocalStore(openingOrFallingBack: place.configuration())
    var failures = 0
    do { _ = try store.execute(collection("rooms"), usingPreviousResults: false) } catch { failures += 1 }
    do { _ = try store.allocateTarget(collection("rooms").target) } catch { failures += 1 }
    do { _ = try store.remoteKeys(of: target) } catch { failures += 1 }
    do { _ = try store.pendingBatches() } catch { failures += 1 }
    do { _ = try store.document(key("rooms/1")) } catch { failures += 1 }
    do { _ = try store.changeUser(to: "other") } catch { failures += 1 }
    do { _ = try store.write([set("rooms/1", [:])], at: now) } catch { failures += 1 }
    store.close()
    let next = LocalStore(openingOrFallingBack: place.configuration())
    // A damaged version number looks like that of a newer program.
    let allowed: [StoreError.Kind?] = [nil, .corrupt, .newerSchema]
    #expect(
      allowed.contains(next.fallback?.kind),
      "seed \(seed), \(failures) failures, \(String(describing: next.fallback))")
  }

  @Test("A newer schema version is rejected with instructions and left unchanged")
  func newerSchema() throws {
    let place = Place(.durable)
    let store = try place.open()
    store.close()
    let url = URL(fileURLWithPath: place.databasePath)
    try Connection(path: PageChecksums.uri(of: place.databasePath), called: "cache").execute("PRAGMA user_version = 99")
    let bytes = try Data(contentsOf: url)

    let error = failure(place)
    let other = LocalStore(openingOrFallingBack: place.configuration())

    #expect(error?.kind == .newerSchema)
    #expect(error?.message.contains("schema version 99") == true)
    #expect(error?.message.contains("another cache directory") == true)
    #expect(error?.code == .failedPrecondition)
    #expect(other.fallback == error)
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test(
    "A directory in place of a file is left unchanged, and the error names it",
    arguments: ["cache.sqlite3", "cache.sqlite3-wal", "lock"])
  func directoryInstead(of file: String) throws {
    let place = Place(.durable)
    try FileManager.default.createDirectory(atPath: place.path + "/" + file, withIntermediateDirectories: true)

    let error = failure(place)
    var other = LocalStore(openingOrFallingBack: place.configuration())

    #expect(error?.message.contains(place.path) == true)
    #expect(other.fallback == error)
    #expect(try other.write([set("rooms/a", [:])], at: now).changes.count == 1)
    #expect(FileManager.default.contents(atPath: place.path + "/" + file) == nil)
  }

  @Test(
    "The error for a file without read or write permission names the file",
    .enabled(if: geteuid() != 0, "root may read everything"),
    arguments: [0o000, 0o400])
  func forbidden(permissions: Int) throws {
    let place = Place(.durable)
    let store = try place.open()
    store.close()
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: place.databasePath)

    let error = failure(place)

    #expect(error?.kind == .notWritable)
    #expect(error?.message.contains(place.databasePath) == true)
  }

  @Test("A path that cannot be a directory is rejected")
  func notWritable() throws {
    let place = Place(.durable)
    try Data().write(to: URL(fileURLWithPath: place.path))

    let error = failure(place)
    let other = LocalStore(openingOrFallingBack: place.configuration())

    #expect(error?.kind == .notWritable)
    #expect(error?.message.contains(place.path) == true)
    #expect(other.fallback?.kind == .notWritable)
  }
}

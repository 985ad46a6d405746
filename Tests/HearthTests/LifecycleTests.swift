// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import FirestoreTesting
import Foundation
import Hearth
import Testing

/// The end of a client, what is left of it, and what comes after.
@Suite(.timeLimit(.minutes(10)))
struct LifecycleTests {
  /// An app with a durable cache in a directory of its own, and an in-memory backend that outlives its clients.
  private struct DurableApp {
    let folder = TemporaryFolder()
    let app: FirestoreApp

    init() {
      app = FirestoreApp(
        name: UUID().uuidString, backend: .inMemory(named: UUID().uuidString).patient, cacheDirectory: folder.path)
    }

    /// Every file below the cache directory.
    var files: [String] { (FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String]) ?? [] }
  }

  @Test("After terminate every call fails with failed-precondition")
  func callsAfterTerminate() async throws {
    let db = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: .inMemory.patient))
    let document = db.document("cities/SF")
    let cities = db.collection("cities").whereField("state", isEqualTo: "CA")
    let batch = db.batch().setData(["a": 1], forDocument: document)
    try await document.setData(["state": "CA"])
    let snapshot = try await document.getDocument()
    try await db.terminate()

    let calls: [(String, () async throws -> Void)] = [
      ("getDocument", { _ = try await document.getDocument() }),
      ("getDocument from cache", { _ = try await snapshot.reference.getDocument(source: .cache) }),
      ("getDocuments", { _ = try await cities.getDocuments() }),
      ("getDocuments from cache", { _ = try await cities.getDocuments(source: .cache) }),
      ("setData", { try await document.setData([:]) }),
      ("updateData", { try await document.updateData(["a": 1]) }),
      ("delete", { try await document.delete() }),
      ("addDocument", { _ = try await db.collection("cities").addDocument(data: [:]) }),
      ("enqueueData", { _ = try document.enqueueData([:]) }),
      ("commit", { try await batch.commit() }),
      ("aggregation", { _ = try await cities.count.getAggregation(source: .server) }),
      ("aggregation from cache", { _ = try await cities.count.getAggregation(source: .cache) }),
      ("transaction", { try await db.runTransaction { _ in } }),
      ("enableNetwork", { try await db.enableNetwork() }),
      ("disableNetwork", { try await db.disableNetwork() }),
      ("waitForPendingWrites", { try await db.waitForPendingWrites() }),
      ("loadBundle", { _ = try await db.loadBundle(Data()) }),
      ("setIndexConfiguration", { try await db.setIndexConfiguration("{}") }),
      ("persistenceFailure", { _ = try await db.persistenceFailure }),
      ("document snapshots", { for try await _ in document.snapshots {} }),
      ("query snapshots", { for try await _ in cities.snapshots(includeMetadataChanges: true) {} }),
    ]
    for (name, call) in calls {
      await #expect("\(name)") { try await call() } throws: { code(of: $0) == .failedPrecondition }
    }

    let (documents, queries) = (Events<DocumentEvent>(), Events<QueryEvent>())
    let errors = Events<FirestoreErrorCode.Code>()
    document.addSnapshotListener(documents.listener)
    cities.addSnapshotListener(queries.listener)
    #expect(code(of: await documents.next()?.error) == .failedPrecondition)
    #expect(code(of: await queries.next()?.error) == .failedPrecondition)
    let completions: [(@escaping @Sendable ((any Error)?) -> Void) -> Void] = [
      { done in document.setData([:], completion: done) }, { done in document.delete(completion: done) },
      { done in document.getDocument { done($1) } }, { done in cities.getDocuments { done($1) } },
      { done in db.batch().commit(completion: done) }, { done in db.enableNetwork(completion: done) },
      { done in db.waitForPendingWrites(completion: done) }, { done in db.loadBundle(Data()) { done($1) } },
      { done in cities.count.getAggregation(source: .cache) { done($1) } },
    ]
    for call in completions {
      call(errors.completion)
      #expect(await errors.next() == .failedPrecondition)
    }
    #expect(await db.getQuery(named: "any") == nil)
    for await _ in db.pendingWrites { Issue.record("A client that is over has no queue.") }
    for await _ in db.onlineState { Issue.record("A client that is over has no connection.") }
  }

  @Test("Termination fails pending calls, stops callbacks and ends sequences")
  func underWay() async throws {
    let db = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: .inMemory.patient))
    try await db.disableNetwork()
    let events = Events<QueryEvent>()
    let listener = db.collection("cities").addSnapshotListener(events.listener)
    #expect(await events.next()?.ids == [])
    var snapshots = db.collection("cities").snapshots.makeAsyncIterator()
    #expect(try await snapshots.next()?.isEmpty == true)
    let write = try db.document("cities/SF").enqueueData([:])
    try await write.local
    #expect(await events.next()?.ids == ["SF"])
    let written = Events<FirestoreErrorCode.Code>()
    db.document("cities/LA").setData([:], completion: written.completion)
    #expect(await events.next()?.ids == ["LA", "SF"])
    let waited = Events<FirestoreErrorCode.Code>()
    db.waitForPendingWrites(completion: waited.completion)
    _ = try await db.document("cities/SF").getDocument(source: .cache)

    try await db.terminate()
    try await db.terminate()
    await #expect { try await write.acknowledged } throws: { code(of: $0) == .failedPrecondition }
    #expect(await written.next() == .failedPrecondition)
    #expect(await waited.next() == .failedPrecondition)
    await #expect {
      // An unread snapshot comes first.
      while try await snapshots.next() != nil {}
    } throws: { code(of: $0) == .failedPrecondition }
    listener.remove()
    events.finish()
    #expect(await events.next() == nil)
  }

  @Test("A new instance after termination finds the earlier cache and queue")
  func newInstance() async throws {
    let durable = DurableApp()
    let first = Firestore.firestore(app: durable.app)
    #expect(Firestore.firestore(app: durable.app) === first)
    try await first.disableNetwork()
    try await first.document("cities/SF").enqueueData(["name": "Queued"]).local
    let ended = Events<FirestoreErrorCode.Code>()
    first.terminate(completion: ended.completion)
    #expect(await ended.next() == .OK)

    let second = Firestore.firestore(app: durable.app)
    #expect(second !== first)
    #expect(try await second.persistenceFailure == nil)
    try await second.waitForPendingWrites()
    #expect(try await second.document("cities/SF").getDocument(source: .server).exists)

    // The old instance neither clears what the new one uses, nor takes its place.
    await #expect { try await first.clearPersistence() } throws: { code(of: $0) == .failedPrecondition }
    try await first.terminate()
    #expect(Firestore.firestore(app: durable.app) === second)
    try await second.terminate()
  }

  @Test("Clearing fails while the client runs and afterwards leaves no cache file")
  func clearing() async throws {
    let durable = DurableApp()
    let db = Firestore.firestore(app: durable.app)
    // Nothing to clear yet is no error.
    try await db.clearPersistence()
    try await db.disableNetwork()
    for number in 0..<20 { try await db.document("cities/c\(number)").enqueueData(["n": number]).local }
    #expect(durable.files.contains { $0.hasSuffix("-wal") })
    await #expect { try await db.clearPersistence() } throws: { code(of: $0) == .failedPrecondition }
    let refused = Events<FirestoreErrorCode.Code>()
    db.clearPersistence(completion: refused.completion)
    #expect(await refused.next() == .failedPrecondition)
    #expect(try await db.collection("cities").getDocuments().count == 20)

    try await db.terminate()
    let cleared = Events<FirestoreErrorCode.Code>()
    db.clearPersistence(completion: cleared.completion)
    #expect(await cleared.next() == .OK)
    let left = durable.files.filter { $0.contains("sqlite3") || $0.hasSuffix("lock") }
    #expect(left == [])
    let next = Firestore.firestore(app: durable.app)
    #expect(try await next.collection("cities").getDocuments(source: .cache).isEmpty)
    try await next.waitForPendingWrites()
    #expect(try await next.collection("cities").getDocuments(source: .server).isEmpty)
    try await next.terminate()
  }

  @Test("A damaged cache can be cleared")
  func clearingDamage() async throws {
    let durable = DurableApp()
    let db = Firestore.firestore(app: durable.app)
    try await db.disableNetwork()
    try await db.document("cities/SF").enqueueData([:]).local
    try await db.terminate()
    let name = try #require(durable.files.first { $0.hasSuffix(".sqlite3") })
    try Data(repeating: 0xFF, count: 8192).write(to: URL(filePath: durable.folder(name)))
    try await db.clearPersistence()
    #expect(durable.files.filter { $0.contains("sqlite3") } == [])
  }

  @Test("Each app and database has a separate cache and data")
  func severalDatabases() async throws {
    let durable = DurableApp()
    let app = durable.app
    let (first, second) = (Firestore.firestore(app: app), Firestore.firestore(app: app, database: "second"))
    #expect(first !== second)
    #expect(first.databaseID == "(default)")
    #expect(second.databaseID == "second")
    #expect(second.app == app)
    try await first.document("cities/SF").setData(["in": "first"])
    try await second.document("cities/SF").setData(["in": "second"])
    #expect(try await first.document("cities/SF").getDocument(source: .server).get("in") as? String == "first")
    #expect(try await second.document("cities/SF").getDocument(source: .server).get("in") as? String == "second")
    #expect(try await first.persistenceFailure == nil)
    #expect(try await second.persistenceFailure == nil)

    for wrong in [Firestore.firestore(app: app, database: ""), Firestore.firestore(app: app, database: "a/b")] {
      await #expect { try await wrong.document("cities/SF").getDocument() } throws: {
        code(of: $0) == .invalidArgument
      }
      try await wrong.terminate()
    }

    // A reference leads into its own database only.
    await #expect {
      try await first.document("cities/LA").setData(["twin": second.document("cities/SF")])
    } throws: { code(of: $0) == .invalidArgument }
    try await first.terminate()
    #expect(try await second.document("cities/SF").getDocument(source: .cache).exists)
    try await second.terminate()
  }
}

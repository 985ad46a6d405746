// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth
import Testing

/// Bundles fill the cache and bring queries with names.
@Suite(.timeLimit(.minutes(10)))
struct BundleTests {
  private func bundle(documents count: Int = 3) -> BundleText {
    var bundle = BundleText()
    bundle.addQuery(named: "two", collection: "cities", limit: 2)
    for number in 0..<count {
      bundle.addDocument("cities/c\(number)", population: number, queries: number < 2 ? ["two"] : [])
    }
    bundle.addMissingDocument("cities/gone")
    return bundle
  }

  @Test("A bundle's documents and named queries are available offline")
  func loading() async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      let progress = try await test.db.loadBundle(bundle().data)
      #expect(progress.state == .success)
      #expect(progress.documentsLoaded == 4)
      #expect(progress.totalDocuments == 4)
      #expect(progress.bytesLoaded == bundle().data.count)
      #expect(progress.totalBytes == bundle().data.count)

      let all = try await test.db.collection("cities").getDocuments()
      #expect(all.documents.compactMap { $0.get("population") as? Int } == [0, 1, 2])
      #expect(all.metadata.isFromCache)
      #expect(try await test.db.document("cities/gone").getDocument(source: .cache).exists == false)

      let query = try #require(await test.db.getQuery(named: "two"))
      #expect(query == test.db.collection("cities").limit(to: 2))
      #expect(try await query.getDocuments().documents.map(\.documentID) == ["c0", "c1"])
      #expect(await test.db.getQuery(named: "three") == nil)
      let found = Events<Bool>()
      test.db.getQuery(named: "two") { found.send($0 != nil) }
      test.db.getQuery(named: "three") { found.send($0 != nil) }
      #expect([await found.next(), await found.next()].compactMap { $0 }.sorted { $0 && !$1 } == [true, false])
    }
  }

  @Test("A large bundle is stored in slices that observers see before the completion")
  func progress() async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      let snapshots = Events<QueryEvent>()
      test.db.collection("cities").addSnapshotListener(snapshots.listener)
      #expect(await snapshots.next()?.ids == [])

      let events = Events<LoadBundleTaskProgress?>()
      let data = bundle(documents: 250).data
      let task = test.db.loadBundle(data) { progress, error in
        #expect(error == nil)
        #expect(progress?.state == .success)
        events.send(nil)
      }
      task.addObserver { events.send($0) }
      let removed = task.addObserver { _ in Issue.record("A removed observer is not called.") }
      task.removeObserverWith(handle: removed)
      task.removeObserverWith(handle: 99)
      var seen: [LoadBundleTaskProgress] = []
      while let event = await events.next(), let progress = event { seen.append(progress) }
      #expect(seen.last?.state == .success)
      #expect(seen.last?.documentsLoaded == 251)
      #expect(seen.dropLast().allSatisfy { $0.state == .inProgress && $0.documentsLoaded < 251 })
      #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.bytesLoaded <= $1.bytesLoaded })
      #expect(seen.allSatisfy { $0.totalBytes == data.count })
      let complete = await snapshots.first { $0.ids.count == 250 }
      #expect(complete?.snapshot?.metadata.causes.contains(.bundleLoaded("cities-bundle")) == true)

      // Who comes late hears how it ended.
      let late = Events<LoadBundleTaskProgress>()
      task.addObserver { late.send($0) }
      #expect(await late.next()?.state == .success)
      task.removeAllObservers()
    }
  }

  @Test("A bundle loads from a stream, and loading it again changes nothing")
  func stream() async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      #expect(try await test.db.loadBundle(InputStream(data: bundle(documents: 2000).data)).documentsLoaded == 2001)
      #expect(try await test.db.collection("cities").count.getAggregation(source: .cache).count == 2000)

      var changed = bundle()
      changed.addDocument("cities/new", population: 1)
      #expect(try await test.db.loadBundle(changed.data).documentsLoaded == 5)
      #expect(try await test.db.collection("cities").count.getAggregation(source: .cache).count == 2000)
      changed.createTime = "2026-01-03T00:00:00Z"
      try await test.db.loadBundle(changed.data)
      #expect(try await test.db.collection("cities").count.getAggregation(source: .cache).count == 2001)

      let errors = Events<FirestoreErrorCode.Code>()
      guard let missing = InputStream(fileAtPath: "/nonexistent/bundle") else { return }
      test.db.loadBundle(missing) { _, error in errors.completion(error) }
      #expect(await errors.next() == .unknown)
    }
  }

  @Test("A truncated, damaged or foreign bundle is rejected and stores nothing")
  func broken() async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      let whole = bundle().data
      var broken = stride(from: 0, to: whole.count, by: 7).map { whole.prefix($0) }
      broken.append(whole.dropLast())
      broken.append(Data("9".utf8) + whole)
      broken.append(Data("2".utf8) + whole.dropFirst())
      broken.append(whole + Data("12".utf8))
      broken.append(whole + Data("99999999999999999999{}".utf8))
      var other = BundleText()
      other.database = "projects/other/databases/(default)"
      other.addDocument("cities/elsewhere", population: 1)
      broken.append(other.data)
      var short = bundle()
      short.announcedDocuments = 9
      broken.append(short.data)

      for data in broken {
        await #expect { try await test.db.loadBundle(data) } throws: { code(of: $0) == .invalidArgument }
      }
      #expect(try await test.db.collection("cities").getDocuments(source: .cache).isEmpty)
      #expect(await test.db.getQuery(named: "two") == nil)

      let progress = Events<LoadBundleTaskProgress>()
      let errors = Events<FirestoreErrorCode.Code>()
      let task = test.db.loadBundle(short.data) { progress, error in
        #expect(progress == nil)
        errors.completion(error)
      }
      task.addObserver { progress.send($0) }
      #expect(await progress.next()?.state == .error)
      #expect(await errors.next() == .invalidArgument)
    }
  }

  @Test("An eager cache keeps a bundle's documents")
  func eagerCache() async throws {
    let db = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: .inMemory.patient))
    let settings = FirestoreSettings()
    settings.cacheSettings = MemoryCacheSettings(garbageCollectorSettings: MemoryEagerGCSettings())
    db.settings = settings
    try await db.disableNetwork()
    try await db.loadBundle(bundle(documents: 150).data)
    #expect(try await db.collection("cities").getDocuments().count == 150)
    #expect(try await db.collection("cities").getDocuments().count == 150)
    let named = try #require(await db.getQuery(named: "two"))
    #expect(try await named.getDocuments().documents.map(\.documentID) == ["c0", "c1"])
    try await db.terminate()
  }

  @Test("Bundles do not hide newer local writes or backend documents")
  func newerData() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/c0")
      try await city.setData(["population": 100])
      #expect(try await city.getDocument(source: .server).get("population") as? Int == 100)
      try await test.db.disableNetwork()
      try await test.db.document("cities/c1").enqueueData(["population": 200]).local
      try await test.db.loadBundle(bundle().data)
      let all = try await test.db.collection("cities").getDocuments(source: .cache)
      #expect(all.documents.compactMap { $0.get("population") as? Int } == [100, 200, 2])
    }
  }
}

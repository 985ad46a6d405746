// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Hearth
import Testing

/// Both stages of writes, batches, and what is known about the queue.
@Suite(.timeLimit(.minutes(10)))
struct WriteTests {
  @Test("Offline, a write's local stage completes; it is acknowledged only once online")
  func twoStages() async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      let write = try test.db.document("cities/SF").enqueueData(["name": "San Francisco"])
      try await write.local
      #expect(try await test.db.document("cities/SF").getDocument().metadata.hasPendingWrites)

      var queue = test.db.pendingWrites.makeAsyncIterator()
      let waiting = try #require(await queue.next())
      #expect(waiting.map(\.paths) == [["cities/SF"]])
      #expect(waiting.first?.state == .held)
      let id = try await write.id
      #expect(waiting.first?.id == id)

      try await test.db.enableNetwork()
      try await write.acknowledged
      while let writes = await queue.next(), !writes.isEmpty {}
      #expect(try await test.other.document("cities/SF").getDocument(source: .server).exists)
    }
  }

  @Test("A pending write can be canceled")
  func cancelling() async throws {
    try await TestDatabase.run { test async throws in
      _ = try await test.db.document("cities/SF").getDocument()
      try await test.db.disableNetwork()
      let write = try test.db.document("cities/SF").enqueueData([:])
      try await test.db.cancelPendingWrite(try await write.id)

      await #expect { try await write.acknowledged } throws: { code(of: $0) == .cancelled }
      #expect(try await test.db.document("cities/SF").getDocument(source: .cache).exists == false)
    }
  }

  @Test("The online state reports the network being disabled and enabled")
  func onlineState() async throws {
    try await TestDatabase.run { test async throws in
      _ = try await test.db.document("cities/SF").getDocument()
      var states = test.db.onlineState.makeAsyncIterator()
      try await test.db.disableNetwork()
      var state = await states.next()
      while state?.isNetworkEnabled == true { state = await states.next() }
      #expect(state?.phase == .offline)

      test.db.collection("cities").addSnapshotListener { _, _ in }
      try await test.db.enableNetwork()
      while state != nil, state?.phase != .online { state = await states.next() }
      #expect(state?.isNetworkEnabled == true)
      #expect(state?.reason == nil)
    }
  }

  @Test("A batch is atomic, and one rejected write rejects the whole batch")
  func batch() async throws {
    try await TestDatabase.run { test async throws in
      let cities = test.db.collection("cities")
      try await test.db.batch()
        .setData(["a": 1], forDocument: cities.document("A"))
        .setData(["b": 1], forDocument: cities.document("B"), merge: true)
        .setData(["c": 1, "d": 2], forDocument: cities.document("C"), mergeFields: ["c"])
        .updateData(["a": 2], forDocument: cities.document("A"))
        .deleteDocument(cities.document("D"))
        .commit()
      let all = try await test.other.collection("cities").getDocuments(source: .server)
      #expect(all.documents.map(\.documentID) == ["A", "B", "C"])
      #expect(all.documents[0].get("a") as? Int == 2)
      #expect(all.documents[2].get("d") == nil)

      let foreign = test.db.batch().deleteDocument(test.other.document("cities/A"))
      await #expect { try await foreign.commit() } throws: { code(of: $0) == .invalidArgument }
      #expect(try await test.other.document("cities/A").getDocument(source: .server).exists)

      let rejected = test.db.batch().setData([:], forDocument: cities.document("E"))
      rejected.updateData(["x": 1], forDocument: cities.document("none"))
      await #expect { try await rejected.commit() } throws: { code(of: $0) == .notFound }
      #expect(try await test.other.document("cities/E").getDocument(source: .server).exists == false)
    }
  }

  @Test("A batch can be committed only once, and the commit reports invalid arguments")
  func batchMistakes() async throws {
    try await TestDatabase.run { test async throws in
      let batch = test.db.batch().setData([:], forDocument: test.db.document("cities/A"))
      try await batch.commit()
      await expect(.failedPrecondition, "once") { try await batch.commit() }

      let wrong = test.db.batch().setData(["x": [[1]]], forDocument: test.db.document("cities/B"))
      await expect(.invalidArgument, "x") { try await wrong.commit() }
    }
  }

  @Test("addDocument creates a 20-character id and completes at the backend")
  func addDocument() async throws {
    try await TestDatabase.run { test async throws in
      let events = Events<FirestoreErrorCode.Code>()
      let byCompletion = test.db.collection("cities").addDocument(data: ["n": 1], completion: events.completion)
      #expect(await events.next() == .OK)
      let awaited = try await test.db.collection("cities").addDocument(data: ["n": 2])
      for reference in [byCompletion, awaited] {
        #expect(reference.documentID.count == 20)
        #expect(reference.documentID.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
      }
      #expect(try await test.other.collection("cities").getDocuments(source: .server).count == 2)
    }
  }

  @Test("waitForPendingWrites returns when all earlier writes are acknowledged")
  func waiting() async throws {
    try await TestDatabase.run { test async throws in
      for number in 0..<25 { test.db.document("cities/\(number)").setData(["n": number], completion: nil) }
      try await test.db.waitForPendingWrites()
      #expect(try await test.other.collection("cities").getDocuments(source: .server).count == 25)
    }
  }

  @Test("A write's completion runs before the snapshot with its acknowledgement (S3)")
  func completionBeforeSnapshot() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      let events = Events<String>()
      city.addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
        if let snapshot, !snapshot.metadata.hasPendingWrites { events.send("\(snapshot.get("n") ?? "none")") }
      }
      #expect(await events.next() == "none")
      for number in 0..<50 {
        city.setData(["n": number]) { _ in events.send("done") }
        #expect(await events.next() == "done")
        #expect(await events.next() == "\(number)")
      }
    }
  }

  @Test("The in-sync listener is called after all listeners that a change affects")
  func snapshotsInSync() async throws {
    try await TestDatabase.run { test async throws in
      let events = Events<String>()
      test.db.collection("cities").addSnapshotListener { snapshot, _ in events.send("cities \(snapshot?.count ?? -1)") }
      test.db.document("cities/SF").addSnapshotListener { snapshot, _ in events.send("SF \(snapshot?.exists ?? false)")
      }
      let first = Set([await events.next(), await events.next()])
      #expect(first == ["cities 0", "SF false"])
      let registration = test.db.addSnapshotsInSyncListener { events.send("sync") }
      #expect(await events.next() == "sync")
      try await test.db.disableNetwork()

      test.db.document("cities/SF").setData([:], completion: nil)

      let changed = Set([await events.next(), await events.next()])
      #expect(changed == ["cities 1", "SF true"])
      #expect(await events.next() == "sync")
      registration.remove()
    }
  }

  @Test("Each app and database has one instance")
  func instances() {
    let app = FirestoreApp(name: "instances", backend: .inMemory)
    #expect(Firestore.firestore(app: app) === Firestore.firestore(app: app, database: "(default)"))
    #expect(Firestore.firestore(app: app) !== Firestore.firestore(app: app, database: "second"))
    #expect(Firestore.firestore(app: app).collection("a").document("b").collection("c").path == "a/b/c")
    #expect(Firestore.firestore(app: app).document("a/b").parent.collectionID == "a")
  }
}

// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth
import Testing

/// The page "Get realtime updates" in its newest form: each call, option and property of its Swift samples.
@Suite(.timeLimit(.minutes(10)))
struct RealtimePageTests {
  @Test("A document listener is called immediately and after each change")
  func documentListener() async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.document("cities/SF").setData(["name": "San Francisco"])
      let events = Events<DocumentEvent>()

      test.db.collection("cities").document("SF")
        .addSnapshotListener { documentSnapshot, error in
          events.listener(documentSnapshot, error)
        }

      let first = try #require(await events.next())
      #expect(first.hasOneArgument)
      let document = try #require(first.snapshot)
      #expect(document.data()?["name"] as? String == "San Francisco")

      try await test.other.document("cities/SF").updateData(["name": "Frisco"])
      let second = await events.first { $0.name == "Frisco" }
      #expect(second?.hasOneArgument == true)
      #expect(second?.isPending == false)
    }
  }

  @Test("A missing document is a snapshot without data, not an error")
  func missingDocument() async throws {
    try await TestDatabase.run { test async throws in
      let events = Events<DocumentEvent>()
      test.db.document("cities/none").addSnapshotListener(events.listener)

      let event = try #require(await events.next())
      #expect(event.error == nil)
      #expect(event.snapshot?.exists == false)
      #expect(event.snapshot?.data() == nil)
      #expect(event.isFromCache == false)
    }
  }

  @Test("A local write reaches the listener before the backend, marked as pending")
  func latencyCompensation() async throws {
    try await TestDatabase.run { test async throws in
      let events = Events<DocumentEvent>()
      test.db.document("cities/SF").addSnapshotListener(events.listener)
      _ = await events.next()
      try await test.db.disableNetwork()

      let write = try test.db.document("cities/SF").enqueueData(["name": "Local"])

      let document = try #require(await events.first { $0.name == "Local" }?.snapshot)
      let source = document.metadata.hasPendingWrites ? "Local" : "Server"
      #expect(source == "Local")
      let id = try await write.id
      #expect(document.metadata.causes.contains(.localWrite(id)))
      let stored = try await test.other.document("cities/SF").getDocument(source: .server)
      #expect(!stored.exists)
    }
  }

  @Test("An acknowledgement causes no snapshot unless metadata changes are requested")
  func acknowledgementIsSilent() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      let plain = Events<DocumentEvent>()
      let detailed = Events<DocumentEvent>()
      city.addSnapshotListener(plain.listener)
      city.addSnapshotListener(includeMetadataChanges: true) { documentSnapshot, error in
        detailed.listener(documentSnapshot, error)
      }
      _ = await plain.next()
      _ = await detailed.next()
      try await test.db.disableNetwork()

      let write = try city.enqueueData(["name": "A"])
      #expect(await plain.next()?.isPending == true)
      #expect(await detailed.first { $0.isPending == true }?.name == "A")
      try await test.db.enableNetwork()
      try await write.acknowledged
      #expect(await detailed.first { $0.isPending == false && $0.isFromCache == false }?.name == "A")

      try await test.other.document("cities/SF").setData(["name": "B"])
      let next = await plain.next()
      #expect(next?.name == "B")
    }
  }

  @Test("A cache listener reports local writes and never contacts the backend")
  func cacheOnlyListener() async throws {
    let datastore = ObservedDatastore()
    let db = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: .datastore(datastore).patient))
    let events = Events<DocumentEvent>()
    let options = SnapshotListenOptions()
      .withSource(ListenSource.cache)
      .withIncludeMetadataChanges(true)

    let listener = db.collection("cities").document("SF")
      .addSnapshotListener(options: options) { documentSnapshot, error in
        events.listener(documentSnapshot, error)
      }
    try await db.document("cities/SF").enqueueData(["name": "Here"]).local

    let event = try #require(await events.first { $0.name == "Here" })
    #expect(event.isFromCache == true)
    listener.remove()
    // The backend has certainly been asked for everything once it answered this read.
    _ = try await db.document("towns/Oakland").getDocument(source: .server)
    #expect(datastore.listened == ["towns/Oakland"])
    try await db.terminate()
  }

  @Test("A query listener gets the full result after every change of its documents")
  func queryListener() async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.document("cities/SF").setData(["name": "San Francisco", "state": "CA"])
      try await test.db.document("cities/NYC").setData(["name": "New York", "state": "NY"])
      let events = Events<QueryEvent>()

      test.db.collection("cities").whereField("state", isEqualTo: "CA")
        .addSnapshotListener { querySnapshot, error in
          events.listener(querySnapshot, error)
        }

      let documents = try #require(
        await events.first { $0.isFromCache == false || $0.ids == ["SF"] }?.snapshot?.documents)
      #expect(documents.compactMap { $0["name"] as? String } == ["San Francisco"])
      try await test.other.document("cities/LA").setData(["name": "Los Angeles", "state": "CA"])
      #expect(await events.first { $0.ids == ["LA", "SF"] } != nil)
      try await test.other.document("cities/SF").delete()
      #expect(await events.first { $0.ids == ["LA"] } != nil)
    }
  }

  @Test("documentChanges lists additions, modifications and removals with positions")
  func documentChanges() async throws {
    try await TestDatabase.run { test async throws in
      try await test.other.document("cities/B").setData(["state": "CA", "rank": 2])
      let events = Events<QueryEvent>()
      test.db.collection("cities").whereField("state", isEqualTo: "CA").order(by: "rank")
        .addSnapshotListener(events.listener)

      let first = try #require(await events.next()?.snapshot)
      #expect(first.documentChanges.map(\.type) == [.added])
      #expect(first.documentChanges.first?.oldIndex == NSNotFound)
      #expect(first.documentChanges.first?.newIndex == 0)

      try await test.other.document("cities/A").setData(["state": "CA", "rank": 1])
      let added = try #require(await events.next()?.snapshot?.documentChanges.first)
      #expect(added.type == .added && added.document.documentID == "A")
      #expect(added.newIndex == 0)

      try await test.other.document("cities/A").updateData(["rank": 3])
      let modified = try #require(await events.next()?.snapshot?.documentChanges.first)
      #expect(modified.type == .modified && modified.document.documentID == "A")
      #expect((modified.oldIndex, modified.newIndex) == (0, 1))

      try await test.other.document("cities/B").delete()
      let removed = try #require(await events.next()?.snapshot?.documentChanges.first)
      #expect(removed.type == .removed && removed.document.documentID == "B")
      #expect((removed.oldIndex, removed.newIndex) == (0, NSNotFound))
      #expect(removed.document.data()["state"] as? String == "CA")
    }
  }

  @Test("A removed listener is not called again, and removing it twice is harmless")
  func detach() async throws {
    try await TestDatabase.run { test async throws in
      let events = Events<QueryEvent>()
      let others = Events<QueryEvent>()
      let listener = test.db.collection("cities").addSnapshotListener(events.listener)
      test.db.collection("cities").addSnapshotListener(others.listener)
      _ = await events.next()
      _ = await others.next()

      listener.remove()
      listener.remove()
      try await test.other.document("cities/SF").setData(["name": "San Francisco"])

      _ = await others.first { $0.ids == ["SF"] }
      events.finish()
      #expect(await events.next() == nil)
    }
  }

  @Test("A rejected listen calls back once with the error")
  func listenError() async throws {
    let datastore = ObservedDatastore(refusing: "secrets")
    let db = Firestore.firestore(app: FirestoreApp(name: UUID().uuidString, backend: .datastore(datastore).patient))
    let events = Events<QueryEvent>()

    db.collection("secrets").addSnapshotListener(events.listener)

    let event = try #require(await events.next())
    #expect(event.hasOneArgument)
    #expect(code(of: event.error) == .permissionDenied)
    try await db.document("secrets/one").enqueueData(["name": "A"]).local
    try await db.terminate()
    events.finish()
    #expect(await events.next() == nil)
  }

  @Test("An invalid query fails its listener, not the process")
  func invalidQuery() async throws {
    try await TestDatabase.run { test async throws in
      let events = Events<QueryEvent>()
      test.db.collection("cities").limit(to: 0).addSnapshotListener(events.listener)

      let event = try #require(await events.next())
      #expect(event.snapshot == nil)
      #expect(code(of: event.error) == .invalidArgument)
    }
  }

  @Test("Snapshots are an async sequence, and canceling the consumer ends it")
  func asyncSequence() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.document("cities/SF")
      var iterator = city.snapshots(includeMetadataChanges: true).makeAsyncIterator()
      #expect(try await iterator.next()?.exists == false)

      try await city.setData(["name": "San Francisco"])
      var latest = try #require(try await iterator.next())
      while latest.metadata.hasPendingWrites { latest = try #require(try await iterator.next()) }
      #expect(latest.get("name") as? String == "San Francisco")

      let cities = test.db.collection("cities").snapshots
      let consumer = Task {
        var count = 0
        for try await snapshot in cities { count += snapshot.count }
        return count
      }
      consumer.cancel()
      #expect(try await consumer.value <= 1)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Hearth
import Testing

/// The two older forms of the page "Get realtime updates": the calls that later spellings replaced.
@Suite(.timeLimit(.minutes(10)))
struct Realtime2018PageTests {
  @Test("DocumentListenOptions requests metadata changes like SnapshotListenOptions")
  func documentListenOptions() async throws {
    try await TestDatabase.run { test async throws in
      let city = test.db.collection("cities").document("SF")
      let options = DocumentListenOptions().includeMetadataChanges(true)
      let events = Events<DocumentEvent>()
      city.addSnapshotListener(options: options) { documentSnapshot, error in
        events.listener(documentSnapshot, error)
      }
      _ = await events.next()

      try await city.setData(["name": "San Francisco"])

      #expect(await events.first { $0.name != nil && $0.isPending == false } != nil)
    }
  }

  @Test("QueryListenOptions requests metadata changes of the query and its documents")
  func queryListenOptions() async throws {
    try await TestDatabase.run { test async throws in
      let options = QueryListenOptions().includeQueryMetadataChanges(true).includeDocumentMetadataChanges(true)
      let events = Events<QueryEvent>()
      test.db.collection("cities").whereField("state", isEqualTo: "CA")
        .addSnapshotListener(options: options) { querySnapshot, error in
          events.listener(querySnapshot, error)
        }
      _ = await events.next()

      try await test.db.document("cities/SF").setData(["state": "CA"])

      let acknowledged = await events.first { $0.ids == ["SF"] && $0.isPending == false }
      #expect(acknowledged != nil)
    }
  }

  @Test("A query's documents have non-optional data")
  func queryDocuments() async throws {
    try await TestDatabase.run { test async throws in
      try await test.other.document("cities/SF").setData(["name": "San Francisco", "state": "CA"])
      let events = Events<QueryEvent>()
      test.db.collection("cities").whereField("state", isEqualTo: "CA")
        .addSnapshotListener { querySnapshot, error in
          guard querySnapshot?.documents != nil else { return }
          events.listener(querySnapshot, error)
        }

      let snapshot = try #require(await events.next()?.snapshot)
      let cities = snapshot.documents.map { $0["name"]! }
      #expect(cities as? [String] == ["San Francisco"])
      for diff in snapshot.documentChanges where diff.type == .added {
        let data: [String: Any] = diff.document.data()
        #expect(data.keys.sorted() == ["name", "state"])
      }
    }
  }

  @Test("Each listener to the same data gets separate snapshots until removed")
  func twoListeners() async throws {
    try await TestDatabase.run { test async throws in
      let first = Events<QueryEvent>()
      let second = Events<QueryEvent>()
      let listener = test.db.collection("cities").addSnapshotListener(first.listener)
      test.db.collection("cities").addSnapshotListener(second.listener)
      #expect(await first.next()?.ids == [])
      #expect(await second.next()?.ids == [])

      try await test.other.document("cities/SF").setData([:])
      #expect(await first.next()?.ids == ["SF"])
      listener.remove()
      #expect(await second.next()?.ids == ["SF"])
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Hearth
import Testing

/// Listeners as asynchronous sequences.
@Suite(.timeLimit(.minutes(10)))
struct SnapshotSequenceTests {
  @Test("Listen options select metadata changes and the source")
  func options() async throws {
    try await TestDatabase.run { test async throws in
      try await test.other.document("cities/SF").setData(["name": "San Francisco"])
      let cached = SnapshotListenOptions().withSource(.cache).withIncludeMetadataChanges(true)
      var fromCache = test.db.collection("cities").snapshots(options: cached).makeAsyncIterator()
      #expect(try await fromCache.next()?.isEmpty == true)

      var metadata = test.db.document("cities/SF").snapshots(includeMetadataChanges: true).makeAsyncIterator()
      var snapshot = try await metadata.next()
      while snapshot?.metadata.isFromCache == true { snapshot = try await metadata.next() }
      #expect(snapshot?.get("name") as? String == "San Francisco")
      // What came for the one is in the cache for the other.
      #expect(try await fromCache.next()?.documents.map(\.documentID) == ["SF"])
    }
  }

  @Test("A slow consumer gets one merged snapshot, or separate ones up to a limit")
  func bufferingPolicies() async throws {
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      let cities = test.db.collection("cities")
      func sequence(_ policy: SnapshotBufferingPolicy) -> AsyncThrowingStream<QuerySnapshot, any Error>.Iterator {
        cities.snapshots(options: SnapshotListenOptions(), bufferingPolicy: policy).makeAsyncIterator()
      }
      var (merged, separate, few) = (sequence(.merged), sequence(.separate(limit: 10)), sequence(.separate(limit: 2)))
      for id in ["a", "b", "c"] { try await cities.document(id).enqueueData([:]).local }

      func ids(_ snapshot: QuerySnapshot?) -> [String]? { snapshot?.documents.map(\.documentID) }
      func added(_ snapshot: QuerySnapshot?) -> [String]? { snapshot?.documentChanges.map(\.document.documentID) }
      let all = try await merged.next()
      #expect(ids(all) == ["a", "b", "c"])
      #expect(added(all) == ["a", "b", "c"])
      for expected in [[], ["a"], ["a", "b"], ["a", "b", "c"]] {
        let snapshot = try await separate.next()
        #expect(ids(snapshot) == expected)
        #expect(added(snapshot) == expected.suffix(1))
      }
      #expect(ids(try await few.next()) == [])
      let rest = try await few.next()
      #expect(ids(rest) == ["a", "b", "c"])
      #expect(added(rest) == ["a", "b", "c"])
    }
  }

  @Test("Documents are decoded to values, and a decoding error ends the sequence")
  func values() async throws {
    struct City: Codable, Equatable, Sendable {
      @DocumentID var id: String?
      var name: String
    }
    try await TestDatabase.run { test async throws in
      try await test.db.disableNetwork()
      let cities = test.db.collection("cities")
      try await cities.document("SF").enqueueData(from: City(name: "San Francisco")).local
      var all = cities.snapshots(as: City.self).makeAsyncIterator()
      var one = cities.document("LA").snapshots(as: City?.self).makeAsyncIterator()
      #expect(try await all.next() == [City(id: "SF", name: "San Francisco")])
      #expect(try await one.next() == .some(nil))

      try await cities.document("LA").enqueueData(from: City(name: "Los Angeles")).local
      #expect(try await all.next()?.map(\.id) == ["LA", "SF"])
      #expect(try await one.next() == City(id: "LA", name: "Los Angeles"))

      try await cities.document("LA").enqueueUpdate(["name": 7]).local
      do {
        _ = try await all.next()
        Issue.record("A name that is a number cannot be decoded.")
      } catch {
        #expect(error is DecodingError)
      }
      do {
        _ = try await one.next()
        Issue.record("A name that is a number cannot be decoded.")
      } catch {
        #expect(error is DecodingError)
      }
      #expect(try await all.next() == nil)
    }
  }
}

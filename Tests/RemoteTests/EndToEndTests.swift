// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth
import Testing

/// The same behaviour, whichever way leads to the backend.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct EndToEndTests {
  @Test("One client's writes and deletes reach another client's listener", arguments: World.Way.allCases)
  func twoClients(_ way: World.Way) async throws {
    try await World.run(way) { db, other in
      let events = Events<[String]>()
      let registration = db.collection("cities").order(by: "population").addSnapshotListener { snapshot, _ in
        events.send(snapshot?.documents.map(\.documentID) ?? ["error"])
      }
      #expect(await events.next() == [])
      try await other.document("cities/LA").setData(["population": 4])
      #expect(await events.first { $0 == ["LA"] } != nil)
      try await other.document("cities/SF").setData(["population": 1])
      #expect(await events.first { $0 == ["SF", "LA"] } != nil)
      try await other.document("cities/LA").delete()
      #expect(await events.first { $0 == ["SF"] } != nil)
      registration.remove()
    }
  }

  @Test("Every type of value round-trips", arguments: World.Way.allCases)
  func values(_ way: World.Way) async throws {
    try await World.run(way) { db, other in
      try await db.document("all/types").setData([
        "null": NSNull(), "true": true, "int": Int64.min, "double": -0.0, "nan": Double.nan, "text": "żółw 🐢",
        "bytes": Data([0, 255]), "time": Timestamp(seconds: -1, nanoseconds: 999_999_000),
        "place": GeoPoint(latitude: -90, longitude: 180), "list": [1, ["a": []] as [String: Any]] as [Any],
        "map": ["empty": [:] as [String: Any]], "\u{e1}": 1, "reference": db.document("a/b"),
      ])
      let document = try await other.document("all/types").getDocument(source: .server)
      let data = try #require(document.data())
      #expect(data.count == 13)
      #expect(data["null"] is NSNull)
      #expect(data["true"] as? Bool == true)
      #expect(data["int"] as? Int64 == .min)
      #expect((data["double"] as? Double)?.sign == .minus)
      #expect((data["nan"] as? Double)?.isNaN == true)
      #expect(data["text"] as? String == "żółw 🐢")
      #expect(data["bytes"] as? Data == Data([0, 255]))
      #expect(data["time"] as? Timestamp == Timestamp(seconds: -1, nanoseconds: 999_999_000))
      #expect(data["place"] as? GeoPoint == GeoPoint(latitude: -90, longitude: 180))
      #expect((data["list"] as? [Any])?.count == 2)
      #expect((data["reference"] as? DocumentReference)?.path == "a/b")
    }
  }

  @Test(
    "Offline writes are visible immediately and later reach other clients in order", arguments: World.Way.allCases)
  func offlineWrites(_ way: World.Way) async throws {
    try await World.run(way) { db, other in
      let seen = Events<Int?>()
      let registration = other.document("counters/one").addSnapshotListener { snapshot, _ in
        seen.send(snapshot?.get("n") as? Int)
      }
      try await db.document("counters/one").setData(["n": 1])
      #expect(await seen.first { $0 == 1 } != nil)
      try await db.disableNetwork()
      let answers = Events<Bool>()
      for _ in 0..<12 {
        db.document("counters/one").updateData(["n": FieldValue.increment(Int64(1))]) { answers.send($0 == nil) }
      }
      let local = try await db.document("counters/one").getDocument(source: .cache)
      #expect(local.get("n") as? Int == 13)
      #expect(local.metadata.hasPendingWrites)
      try await db.enableNetwork()
      for _ in 0..<12 { #expect(await answers.next() == true) }
      #expect(await seen.first { $0 == 13 } != nil)
      registration.remove()
    }
  }

  @Test("A write that the backend rejects is reverted with the reason", arguments: World.Way.allCases)
  func rejection(_ way: World.Way) async throws {
    try await World.run(way) { db, _ in
      let error = await #expect(throws: FirestoreError.self) {
        try await db.document("cities/none").updateData(["n": 1])
      }
      #expect(error?.code == .notFound)
      #expect(try await db.document("cities/none").getDocument().exists == false)
      try await db.document("cities/SF").setData(["n": 1])
    }
  }

  @Test(
    "Queries, aggregations and transactions return the same results over the network", arguments: World.Way.allCases)
  func reads(_ way: World.Way) async throws {
    try await World.run(way) { db, other in
      for number in 0..<25 {
        try await db.document("items/\(number)").setData([
          "n": number, "even": number % 2 == 0, "tags": ["t\(number % 3)"],
        ])
      }
      let items = other.collection("items")
      let found = try await items.whereField("even", isEqualTo: true).whereField("tags", arrayContains: "t0")
        .order(by: "n", descending: true).limit(to: 3).getDocuments(source: .server)
      #expect(found.documents.map(\.documentID) == ["24", "18", "12"])
      let either = try await items.whereFilter(
        Filter.orFilter([Filter.whereField("n", isLessThan: 2), Filter.whereField("n", in: [20, 7])])
      ).getDocuments(source: .server)
      #expect(either.documents.map(\.documentID) == ["0", "1", "7", "20"])
      let count = try await items.whereField("n", isGreaterThan: 4).count.getAggregation(source: .server)
      #expect(count.count == 20)
      let total = try await other.runTransaction { transaction, _ -> Any? in
        let document = try? transaction.getDocument(other.document("items/3"))
        let value = (document?.get("n") as? Int ?? 0) + 100
        transaction.updateData(["n": value], forDocument: other.document("items/3"))
        return value
      }
      #expect(total as? Int == 103)
      #expect(try await db.document("items/3").getDocument(source: .server).get("n") as? Int == 103)
    }
  }
}

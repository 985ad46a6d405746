// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Foundation
import Hearth
import Testing

/// Counts, sums and averages, from the backend and from the cache.
@Suite(.timeLimit(.minutes(10)))
struct AggregationTests {
  private static func fill(_ cities: CollectionReference) async throws {
    let batch = cities.firestore.batch()
    batch.setData(["state": "CA", "population": 10, "area": 1.5], forDocument: cities.document("a"))
    batch.setData(["state": "CA", "population": 20], forDocument: cities.document("b"))
    batch.setData(["state": "NY", "population": 40, "area": 2.5], forDocument: cities.document("c"))
    batch.setData(["state": "NY", "population": "many", "area": 4], forDocument: cities.document("d"))
    try await batch.commit()
  }

  @Test("count returns the backend's document count for a query")
  func count() async throws {
    try await TestDatabase.run { test async throws in
      let cities = test.db.collection("cities")
      try await Self.fill(cities)
      let all = try await cities.count.getAggregation(source: .server)
      #expect(all.count == 4)
      #expect(all.metadata.isFromCache == false)
      let some = cities.whereField("state", isEqualTo: "CA").count
      #expect(try await some.getAggregation(source: .server).count == 2)
      #expect(try await cities.limit(to: 3).count.getAggregation(source: .server).count == 3)
    }
  }

  @Test("Sums stay integers, averages are doubles, and missing fields do not count")
  func figures() async throws {
    try await TestDatabase.run { test async throws in
      let cities = test.db.collection("cities")
      try await Self.fill(cities)
      let snapshot =
        try await cities
        .aggregate([.count(), .sum("population"), .average("population"), .sum(FieldPath(["area"])), .sum("area")])
        .getAggregation(source: .server)
      #expect(snapshot.count == 3)
      #expect(snapshot.get(.sum("population")) as? Int == 50)
      #expect(snapshot.get(.average("population")) as? Double == 25)
      #expect(snapshot.get(.sum("area")) as? Double == 8)
      #expect(snapshot.get(.average("area")) == nil)

      let none = try await cities.whereField("state", isEqualTo: "TX").aggregate([.average("area"), .sum("area")])
        .getAggregation(source: .server)
      #expect(none.get(.average("area")) is NSNull)
      #expect(none.get(.sum("area")) as? Int == 0)
    }
  }

  @Test("Offline aggregates use the cache with local writes; with source server they fail")
  func offline() async throws {
    try await TestDatabase.run { test async throws in
      let cities = test.db.collection("cities")
      try await Self.fill(cities)
      try await test.db.disableNetwork()
      let figures = cities.aggregate([.count(), .sum("population")])
      await #expect { _ = try await figures.getAggregation(source: .server) } throws: { code(of: $0) == .unavailable }

      let cached = try await figures.getAggregation(source: .default)
      #expect(cached.count == 4)
      #expect(cached.get(.sum("population")) as? Int == 70)
      #expect(cached.metadata.isFromCache)
      #expect(cached.metadata.hasPendingWrites == false)

      try await cities.document("a").enqueueUpdate(["population": 100]).local
      let pending = try await figures.getAggregation(source: .cache)
      #expect(pending.get(.sum("population")) as? Int == 160)
      #expect(pending.metadata.hasPendingWrites)

      try await test.db.enableNetwork()
      try await test.db.waitForPendingWrites()
      #expect(try await figures.getAggregation(source: .default).metadata.isFromCache == false)
    }
  }

  @Test("Cache and backend return equal aggregates for all limits and cursors")
  func sameOnBothSides() async throws {
    try await TestDatabase.run { test async throws in
      let cities = test.db.collection("cities")
      try await Self.fill(cities)
      let queries: [any Query] = [
        cities, cities.limit(to: 2), cities.order(by: "state").limit(to: 1),
        cities.order(by: "state", descending: true).limit(to: 3), cities.order(by: "population").limit(toLast: 1),
        cities.order(by: "state").limit(toLast: 3), cities.order(by: "population").start(at: [20]).limit(to: 1),
        cities.order(by: "state").end(at: ["CA"]).limit(to: 2), test.db.collectionGroup("cities"),
      ]
      for (number, query) in queries.enumerated() {
        for fields: [AggregateField] in [
          [.count()], [.sum("area"), .count()], [.average("population"), .sum("area")],
        ] {
          let query = query.aggregate(fields)
          let (server, cache) = (
            try await query.getAggregation(source: .server), try await query.getAggregation(source: .cache)
          )
          #expect(server == cache, "query \(number), \(fields.count) fields")
        }
      }
    }
  }

  @Test("Aggregate listeners follow their query, also offline, and report only changes")
  func live() async throws {
    try await TestDatabase.run { test async throws in
      let cities = test.db.collection("cities")
      try await Self.fill(cities)
      try await test.db.disableNetwork()
      let query = cities.whereField("state", isEqualTo: "CA").aggregate([.count(), .sum("population")])
      var figures = query.snapshots().makeAsyncIterator()
      let events = Events<Int?>()
      let listener = query.addSnapshotListener { snapshot, error in
        #expect((snapshot == nil) != (error == nil))
        events.send(snapshot?.get(.sum("population")) as? Int)
      }
      let first = try #require(try await figures.next())
      #expect(first.count == 2)
      #expect(first.get(.sum("population")) as? Int == 30)
      #expect(first.metadata.isFromCache)
      #expect(await events.next() == 30)

      // No figure of the query changes by this.
      try await cities.document("a").enqueueUpdate(["area": 9]).local
      try await cities.document("c").enqueueUpdate(["state": "CA"]).local
      let second = try #require(try await figures.next())
      #expect(second.count == 3)
      #expect(second.get(.sum("population")) as? Int == 70)
      #expect(second.metadata.hasPendingWrites)
      #expect(await events.next() == 70)

      listener.remove()
      let lastArea = cities.order(by: "population").limit(toLast: 1).aggregate([.sum("area")])
      var last = lastArea.snapshots().makeAsyncIterator()
      #expect(try await last.next()?.get(.sum("area")) as? Int == 4)
      let wrong = Events<FirestoreErrorCode.Code>()
      cities.aggregate([]).addSnapshotListener { _, error in wrong.completion(error) }
      #expect(await wrong.next() == .invalidArgument)
    }
  }

  @Test("Missing, excessive and invalid aggregate fields fail, also in a completion")
  func wrongFields() async throws {
    try await TestDatabase.run { test async throws in
      let cities = test.db.collection("cities")
      let tooMany = (1...6).map { AggregateField.sum("f\($0)") }
      for fields in [[], tooMany, [.sum("a..b")], [.average(FieldPath.documentID())]] {
        for source in [AggregateSource.server, .cache] {
          await #expect { _ = try await cities.aggregate(fields).getAggregation(source: source) } throws: {
            code(of: $0) == .invalidArgument
          }
        }
      }
      let errors = Events<FirestoreErrorCode.Code>()
      cities.aggregate([]).getAggregation(source: .cache) { snapshot, error in
        #expect(snapshot == nil)
        errors.completion(error)
      }
      #expect(await errors.next() == .invalidArgument)
    }
  }
}

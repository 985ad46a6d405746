// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import SeededRandom

extension BenchmarkCase {
  /// Cases that measure the time from starting a listener to its first snapshot, if the cache answers the query.
  static let queryCases = [
    BenchmarkCase(name: "query-equal-scan", summary: "state == x without an index; durable and memory cache") { bench in
      let query = Workbench.equalityQuery(11)
      return try firstSnapshot(bench, query, goal: 45) { try $0.scan() }
        + firstSnapshot(bench, query, inMemory: true, goal: 8) { try $0.scan() }
    },
    BenchmarkCase(name: "query-order-limit-scan", summary: "order by population limit 50 without an index") { bench in
      try firstSnapshot(bench, Workbench.orderLimitQuery, goal: 60) { try $0.scan() }
        + firstSnapshot(bench, Workbench.orderLimitQuery, inMemory: true, goal: nil) { try $0.scan() }
    },
    BenchmarkCase(name: "query-collection", summary: "the whole collection") { bench in
      try firstSnapshot(bench, Workbench.collectionQuery, goal: 200) { try $0.scan() }
        + firstSnapshot(bench, Workbench.collectionQuery, inMemory: true, goal: nil) { try $0.scan() }
    },
    BenchmarkCase(name: "relisten-synced", summary: "state == x that has been in sync before") { bench in
      try firstSnapshot(bench, Workbench.equalityQuery(Workbench.syncedState), goal: 6) { floor in
        try floor.addIndexes()
        try floor.read(state: Workbench.syncedState)
      }
    },
    BenchmarkCase(name: "read-by-key", summary: "one document by its key") { bench in
      let path = try bench.copyOfFilledCache()
      defer { bench.remove(path) }
      let client = try BenchClient(path)
      let floor = try bench.floor()
      var random = SeededGenerator(seed: 9)
      let keys = (0..<10_000).map { _ in bench.documents[Int.random(in: 0..<bench.size, using: &random)].key }
      var (samples, floorSamples): ([Sample], [Sample]) = ([], [])
      for _ in 0..<bench.repetitions {
        samples.append(
          try measure(count: keys.count) { for key in keys { _ = try client.core.store.document(key) } }.sample)
        floorSamples.append(
          try measure(count: keys.count) { for key in keys { try floor.read(key.documentID) } }.sample)
      }
      return [Reading(unit: .microseconds, goal: 5, samples: samples, floor: floorSamples)]
    },
  ]

  /// Measures repeated listening in one client.
  /// - Returns: the time of later listeners, and the time of the first listener. The first listener starts without
  ///   documents in memory. At that time, a memory cache also builds the mirror of its collection.
  static func firstSnapshot(
    _ bench: Workbench, _ query: Query, inMemory: Bool = false, indexes: [FieldIndex] = [], goal: Double?,
    floor: (SQLiteFloor) throws -> Void
  ) throws -> [Reading] {
    var reading = Reading(variant: inMemory ? "memory" : nil, unit: .milliseconds, goal: goal, samples: [])
    var first = Reading(variant: inMemory ? "memory, first query" : "first query", unit: .milliseconds, samples: [])
    let path = inMemory ? nil : try bench.copyOfFilledCache(with: indexes)
    defer { if let path { bench.remove(path) } }
    var client = try inMemory ? memoryClient(bench, indexes) : BenchClient(path)
    let sqlite = try bench.floor(inMemory: inMemory)
    try floor(sqlite)
    for _ in 0..<bench.repetitions {
      let (sample, (listener, shown)) = measure { client.listen(query) }
      guard shown != nil else { throw SQLiteFloor.Failure(description: "No snapshot of \(query.path) was delivered.") }
      client.stop(listener)
      if first.samples.isEmpty { first.samples = [sample] } else { reading.samples.append(sample) }
      reading.floor.append(try measure { try floor(sqlite) }.sample)
    }
    client.close()
    return reading.samples.isEmpty ? [first] : [reading, first]
  }

  static func memoryClient(_ bench: Workbench, _ indexes: [FieldIndex] = []) throws -> BenchClient {
    var store = try LocalStore(Workbench.configuration(nil))
    try store.setIndexes(indexes)
    try bench.fill(&store)
    return try BenchClient(store)
  }
}

extension BenchmarkCase {
  /// Cases that measure queries with a local index, and the cost of the index.
  static let indexCases = [
    BenchmarkCase(name: "query-equal-index", summary: "state == x by an index; durable and memory cache") { bench in
      let query = Workbench.equalityQuery(11)
      let indexes = try [index("state")]
      func floor(_ sqlite: SQLiteFloor) throws {
        try sqlite.addIndexes()
        try sqlite.read(state: 11)
      }
      return try firstSnapshot(bench, query, indexes: indexes, goal: 5, floor: floor)
        + firstSnapshot(bench, query, inMemory: true, indexes: indexes, goal: nil, floor: floor)
    },
    BenchmarkCase(name: "query-order-limit-index", summary: "order by population limit 50 by an index") { bench in
      let indexes = try [index("population")]
      return try firstSnapshot(bench, Workbench.orderLimitQuery, indexes: indexes, goal: 0.3) { floor in
        try floor.addIndexes()
        try floor.readFirstByPopulation()
      }
    },
    BenchmarkCase(name: "start-index", summary: "open the cache, then state == x by an index") { bench in
      [
        try start(bench, Workbench.equalityQuery(11), indexes: [index("state")], goal: 8) { try $0.read(state: 11) }
      ]
    },
    BenchmarkCase(
      name: "apply-remote-indexed",
      summary: "apply-remote without an index, with an index on one field and on two fields"
    ) { bench in
      [
        try applyRemote(bench, variant: "no index"),
        try applyRemote(bench, indexes: [index("state")], variant: "state"),
        try applyRemote(bench, indexes: [index("population")], variant: "population"),
        try applyRemote(bench, indexes: [index("state"), index("population")], variant: "both"),
      ]
    },
    BenchmarkCase(name: "index-backfill-slice", summary: "the longest slice of indexing cached documents") { bench in
      let path = try bench.copyOfFilledCache()
      defer { bench.remove(path) }
      var store = try LocalStore(Workbench.configuration(path))
      var reading = Reading(unit: .milliseconds, goal: 10, samples: [])
      for name in ["state", "population", "state"] {
        try store.setIndexes([index(name)])
        var longest: Sample?
        while try store.needsIndexBackfill {
          let sample = try measure { try store.backfillIndexes() }.sample
          if longest.map({ $0.wall < sample.wall }) ?? true { longest = sample }
        }
        if let longest { reading.samples.append(longest) }
      }
      store.close()
      return [reading]
    },
  ]

  private static func index(_ name: String) throws -> FieldIndex {
    try FieldIndex(collectionGroup: SampleData.collection.last, fields: [FieldIndex.Field(FieldPath(name))])
  }
}

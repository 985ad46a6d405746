// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery

extension BenchmarkCase {
  /// Queries that an index answers, and what the index costs.
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
      name: "apply-remote-indexed", summary: "apply-remote without and with an index on one field; and on two"
    ) { bench in
      [
        try applyRemote(bench, variant: "no index"),
        try applyRemote(bench, indexes: [index("state")], variant: "state"),
        try applyRemote(bench, indexes: [index("population")], variant: "population"),
        try applyRemote(bench, indexes: [index("state"), index("population")], variant: "both"),
      ]
    },
    BenchmarkCase(name: "index-backfill-slice", summary: "the longest slice of indexing what is cached") { bench in
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

// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreQuery

extension BenchmarkCase {
  /// From opening a cache to the first snapshot.
  static let startCases = [
    BenchmarkCase(name: "start-scan", summary: "open the cache, then state == x without an index") { bench in
      [try start(bench, Workbench.equalityQuery(11), goal: 60) { try $0.scan() }]
    },
    BenchmarkCase(name: "start-synced", summary: "open the cache, then state == x that has been in sync before") {
      bench in
      [
        try start(bench, Workbench.equalityQuery(Workbench.syncedState), goal: 8) {
          try $0.read(state: Workbench.syncedState)
        }
      ]
    },
  ]

  static func start(
    _ bench: Workbench, _ query: Query, indexes: [FieldIndex] = [], goal: Double, floor: (SQLiteFloor) throws -> Void
  ) throws -> Reading {
    var reading = Reading(unit: .milliseconds, goal: goal, samples: [])
    let path = try bench.copyOfFilledCache(with: indexes)
    let floorPath = bench.newPath()
    defer { bench.remove(path) }
    do {
      let sqlite = try SQLiteFloor(floorPath)
      try sqlite.insert(bench.documents)
      try sqlite.addIndexes()
    }
    for _ in 0..<bench.repetitions {
      var client: BenchClient?
      let sample = try measure {
        client = try BenchClient(path)
        guard client?.listen(query).shown != nil else {
          throw SQLiteFloor.Failure(description: "No snapshot of \(query.path) was raised.")
        }
      }.sample
      client.take()?.close()
      reading.samples.append(sample)
      reading.floor.append(try measure { try floor(try SQLiteFloor(floorPath)) }.sample)
    }
    return reading
  }
}

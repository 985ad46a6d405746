// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal

extension BenchmarkCase {
  /// Garbage collection, of documents that no target names.
  static let collectionCases = [
    BenchmarkCase(name: "collect-10-percent", summary: "collect the least recently used tenth") { bench in
      [try collect(bench, percentile: 10, goal: 45)]
    },
    BenchmarkCase(name: "collect-90-percent", summary: "collect nine tenths (goal: of 10000 documents)") { bench in
      [try collect(bench, percentile: 90, goal: 40)]
    },
  ]

  private static func collect(_ bench: Workbench, percentile: Int, goal: Double) throws -> Reading {
    var reading = Reading(unit: .milliseconds, goal: goal, samples: [])
    for _ in 0..<min(bench.repetitions, 5) {
      let path = try bench.copyOfFilledCache()
      defer { bench.remove(path) }
      var store = try LocalStore(Workbench.configuration(path))
      try store.start(user: nil)
      let (sample, result) = try measure {
        try store.collectGarbage(thresholdBytes: 0, percentile: percentile, maximumSequenceNumbers: .max)
      }
      guard result.documentsRemoved > 0 else { throw SQLiteFloor.Failure(description: "Nothing was collected.") }
      reading.samples.append(sample)
      store.close()
      let floor = try SQLiteFloor(bench.newPath())
      try floor.insert(bench.documents, indexed: false)
      reading.floor.append(try measure { try floor.delete(first: bench.size * percentile / 100) }.sample)
    }
    return reading
  }
}

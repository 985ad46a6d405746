// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import FirestoreClientState
import FirestoreLocal
import FirestoreQuery

extension BenchmarkCase {
  /// Cases that measure garbage collection, which removes documents without a target.
  static let garbageCollectionCases = [
    BenchmarkCase(name: "collect-10-percent", summary: "collect the least recently used tenth") { bench in
      try collect(bench, percentile: 10, goal: 45)
    },
    BenchmarkCase(name: "collect-90-percent", summary: "collect nine tenths (the goal is for 10000 documents)") {
      bench in
      try collect(bench, percentile: 90, goal: 40)
    },
  ]

  /// - Returns: four readings. The first measures the removal of the documents, and the second also includes the
  ///   release of the free pages. The third is the longest slice in wall time, which is the longest time that other
  ///   work waits. The fourth is the slice with the most processor time.
  private static func collect(_ bench: Workbench, percentile: Int, goal: Double) throws -> [Reading] {
    var removing = Reading(unit: .milliseconds, goal: goal, samples: [])
    var compacting = Reading(variant: "and compact the file", unit: .milliseconds, samples: [])
    // Wall time counts here, since other work also waits for the disk.
    var longest = Reading(variant: "longest slice", unit: .milliseconds, goal: 10, samples: [])
    var busiest = Reading(variant: "busiest slice", unit: .milliseconds, goal: 10, samples: [])
    for _ in 0..<min(bench.repetitions, 5) {
      let path = try bench.copyOfFilledCache()
      defer { bench.remove(path) }
      // The first checkpoint would otherwise wait until the whole copy is on disk.
      try bench.waitForDisk(path)
      var store = try LocalStore(Workbench.configuration(path))
      try store.start(user: nil)
      let begun = try store.beginGarbageCollection(
        thresholdBytes: 0, percentile: percentile, maximumSequenceNumbers: .max)
      guard var run = begun else { throw SQLiteFloor.Failure(description: "Garbage collection did not start.") }
      let nothing = Sample(wall: 0, cpu: 0)
      var (removal, all, longestSlice, busiestSlice) = (nothing, nothing, nothing, nothing)
      while !run.isFinished {
        let isCompacting = run.isCompacting
        let sample = try measure { try store.continueGarbageCollection(&run) }.sample
        all.add(sample)
        if !isCompacting { removal.add(sample) }
        if sample.wall > longestSlice.wall { longestSlice = sample }
        if sample.cpu > busiestSlice.cpu { busiestSlice = sample }
      }
      guard run.documentsRemoved > 0 else { throw SQLiteFloor.Failure(description: "Nothing was collected.") }
      store.close()
      removing.samples.append(removal)
      compacting.samples.append(all)
      longest.samples.append(longestSlice)
      busiest.samples.append(busiestSlice)
      let floor = try SQLiteFloor(bench.newPath())
      try floor.insert(bench.documents, indexed: false)
      removing.floor.append(try measure { try floor.delete(first: bench.size * percentile / 100) }.sample)
    }
    return [removing, compacting, longest, busiest]
  }
}

extension BenchmarkCase {
  /// Cases that measure the time from opening a cache to the first snapshot of a listener.
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
          throw SQLiteFloor.Failure(description: "No snapshot of \(query.path) was delivered.")
        }
      }.sample
      client.take()?.close()
      reading.samples.append(sample)
      reading.floor.append(try measure { try floor(try SQLiteFloor(floorPath)) }.sample)
    }
    return reading
  }
}

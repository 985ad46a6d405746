// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

extension BenchmarkCase {
  /// Cases of remote events on their way from the backend into the cache and the views.
  static let remoteCases = [
    BenchmarkCase(name: "apply-remote", summary: "snapshots of 500 new documents of one target into the cache") {
      bench in
      [try applyRemote(bench), try applyRemote(bench, inMemory: true)]
    },
    BenchmarkCase(
      name: "apply-remote-listened", summary: "the same as messages, with a listener on the collection"
    ) { bench in
      var reading = Reading(unit: .documentsPerSecond, goal: 60_000, samples: [])
      for _ in 0..<min(bench.repetitions, 3) {
        let path = bench.newPath()
        defer { bench.remove(path) }
        var client = try BenchClient(path, isOnline: true)
        _ = client.listen(Workbench.collectionQuery)
        guard let (epoch, target) = client.openWatchStream() else { return [] }
        let snapshots = bench.snapshots()
        client.forgetEffects()
        reading.samples.append(
          measure(count: bench.size) {
            for (number, documents) in snapshots.enumerated() {
              for document in documents {
                client.receive(.document(document, updated: [target], removed: []), in: epoch)
              }
              let token = ResumeToken([UInt8(number & 0xff), 2])
              client.receive(.current([target], token), in: epoch)
              let version = SnapshotVersion(microseconds: SampleData.firstVersion + Int64(number))
              client.receive(.snapshot(version, token), in: epoch)
              client.forgetEffects()
            }
          }.sample)
        client.close()
      }
      return [reading]
    },
  ]

  static func applyRemote(
    _ bench: Workbench, inMemory: Bool = false, indexes: [FieldIndex] = [], variant: String? = nil
  ) throws -> Reading {
    var reading = Reading(
      variant: variant ?? (inMemory ? "memory" : nil), unit: .documentsPerSecond,
      goal: inMemory || variant != nil ? nil : 120_000, samples: [])
    for _ in 0..<min(bench.repetitions, 5) {
      let path = inMemory ? nil : bench.newPath()
      defer { if let path { bench.remove(path) } }
      var store = try LocalStore(Workbench.configuration(path))
      try store.start(user: nil)
      try store.setIndexes(indexes)
      let target = try store.allocateTarget(Workbench.collectionQuery.target).id
      let events = bench.snapshots().enumerated().map { bench.event($1, $0, addedTo: target) }
      reading.samples.append(
        try measure(count: bench.size) { for event in events { _ = try store.apply(event) } }.sample)
      store.close()
      let floorPath = inMemory ? nil : bench.newPath()
      defer { if let floorPath { bench.remove(floorPath) } }
      let floor = try SQLiteFloor(floorPath)
      reading.floor.append(
        try measure(count: bench.size) { try floor.insert(bench.documents, indexed: false) }.sample)
    }
    return reading
  }
}

// SPDX-License-Identifier: Apache-2.0
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

extension BenchmarkCase {
  static let fanoutCases = [
    BenchmarkCase(name: "fanout-100", summary: "one changed document among 100 listeners") { bench in
      let documents = bench.documents
      return [
        try fanout(bench, "1 listener", []),
        try fanout(bench, "100 on other documents", documents[1...99].map { Query(path: $0.key.path) }),
        try fanout(bench, "100 on other collections", (1...99).map { Query(path: ResourcePath("towns\($0)")) }),
        try fanout(
          bench, "100 queries of the collection, none matches",
          (1...99).map { number in
            Query(
              path: SampleData.collection,
              filters: [.field(FieldFilter(FieldPath("country"), .equal, .string("nowhere-\(number)")))])
          }),
        try fanout(
          bench, "100 queries, all match", goal: nil,
          (1...99).map { number in
            Query(
              path: SampleData.collection,
              filters: [
                .field(FieldFilter(FieldPath("population"), .greaterThanOrEqual, .integer(Int64(-number)))),
                .field(FieldFilter(FieldPath("name"), .equal, documents[0][FieldPath("name")] ?? .null)),
              ])
          }),
      ]
    }
  ]

  /// - Parameter others: queries listened to besides the changed document itself.
  private static func fanout(
    _ bench: Workbench, _ variant: String, goal: Double? = 40, _ others: [Query]
  ) throws -> Reading {
    var reading = Reading(variant: variant, unit: .microseconds, goal: goal, samples: [])
    let path = try bench.copyOfFilledCache()
    defer { bench.remove(path) }
    var client = try BenchClient(path)
    let changed = bench.documents[0]
    _ = client.listen(Query(path: changed.key.path))
    for query in others { _ = client.listen(query) }
    for round in 0..<bench.repetitions {
      client.forgetEffects()
      let mutations = (0..<100).map { patch(changed, round * 100 + $0) }
      reading.samples.append(
        try measure(count: mutations.count) { for mutation in mutations { try client.write([mutation]) } }.sample)
    }
    client.close()
    return reading
  }
}

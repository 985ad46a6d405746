// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

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

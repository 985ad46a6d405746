// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import FirestoreLocal
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
    },
    BenchmarkCase(
      name: "fanout-growth", summary: "one changed document of 1000 among 1, 100 and 10000 listeners"
    ) { bench in
      try [1, 100, 10_000].flatMap { listeners in
        [
          try fanout(bench, among: listeners, "on other documents") { Query(path: villages.appending("none-\($0)")) },
          try fanout(bench, among: listeners, "queries, none matches") { number in
            Query(
              path: villages,
              filters: [.field(FieldFilter(FieldPath("country"), .equal, .string("nowhere-\(number)")))])
          },
          try fanout(bench, among: listeners, "queries, all match") { number in
            Query(
              path: villages,
              filters: [
                .field(FieldFilter(FieldPath("elevation"), .lessThan, .integer(Int64(1_000_000 + number)))),
                .field(FieldFilter(FieldPath("country"), .equal, .string("here"))),
              ])
          },
        ]
      }
    },
  ]

  private static let villages = SampleData.otherCollection

  /// Measures writes to one document with many listeners. The collection is small, so that thousands of listeners can
  /// be added in seconds.
  /// - Parameter query: returns the query of the listener with a number. The first listener is for the document itself.
  private static func fanout(
    _ bench: Workbench, among listeners: Int, _ family: String, _ query: (Int) -> Query
  ) throws -> Reading {
    var reading = Reading(variant: "\(listeners), \(family)", unit: .microseconds, samples: [])
    reading.dimension = .listeners(listeners, family)
    let path = bench.newPath()
    defer { bench.remove(path) }
    var store = try LocalStore(Workbench.configuration(path))
    try store.start(user: nil)
    let documents = SampleData.documents(1_000, in: villages)
    for number in 0..<2 {
      _ = try store.apply(bench.event(documents[(number * 500)..<(number * 500 + 500)], number))
    }
    var client = try BenchClient(store)
    _ = client.listen(Query(path: documents[0].key.path))
    func change(_ number: Int) -> Mutation {
      let fields: Fields = ["population": .integer(Int64(number)), "country": .string("here")]
      let mask = FieldMask([FieldPath("population"), FieldPath("country")])
      return Mutation(key: documents[0].key, operation: .patch(fields, mask), precondition: .exists(true))
    }
    try client.write([change(-1)])
    for number in 1..<listeners { _ = client.listen(query(number)) }
    // A change with thousands of listeners takes 0.1 s, so fewer changes are measured.
    let perRound = listeners > 1_000 ? 10 : 100
    for round in 0..<min(bench.repetitions, listeners > 1_000 ? 3 : bench.repetitions) {
      client.forgetEffects()
      let mutations = (0..<perRound).map { change(round * perRound + $0) }
      reading.samples.append(
        try measure(count: mutations.count) { for mutation in mutations { try client.write([mutation]) } }.sample)
    }
    client.close()
    return reading
  }

  /// - Parameter others: the queries of listeners in addition to the listener for the changed document.
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

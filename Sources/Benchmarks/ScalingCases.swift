// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreQuery

extension BenchmarkCase {
  /// Cases whose values should be the same for every number of cached documents.
  static let scalingCases = [
    BenchmarkCase(
      name: "scale-other-collection",
      summary: "a scan of 1000 documents beside a collection of the given size: flat"
    ) { bench in
      var reading = Reading(unit: .milliseconds, samples: [])
      let path = try bench.copyOfFilledCache()
      defer { bench.remove(path) }
      var store = try LocalStore(Workbench.configuration(path))
      try store.start(user: nil)
      _ = try store.apply(bench.event(SampleData.documents(1_000, in: SampleData.otherCollection), bench.size + 1))
      var client = try BenchClient(store)
      let query = Workbench.equalityQuery(11, in: SampleData.otherCollection)
      for _ in 0..<9 {
        let (sample, (listener, _)) = measure { client.listen(query) }
        client.stop(listener)
        reading.samples.append(sample)
      }
      client.close()
      return [reading]
    },
    BenchmarkCase(
      name: "scale-write",
      summary: "a local write with 0 and 10000 pending ones, beside a collection of the given size: flat"
    ) { bench in try [0, 10_000].map { try localWrite(bench, pending: $0) } },
  ]

  /// - Parameter pending: writes that wait already, of other documents.
  private static func localWrite(_ bench: Workbench, pending: Int) throws -> Reading {
    var reading = Reading(variant: "\(pending) pending", unit: .microseconds, samples: [])
    let path = try bench.copyOfFilledCache()
    defer { bench.remove(path) }
    var store = try LocalStore(Workbench.configuration(path))
    try store.start(user: nil)
    let villages = SampleData.documents(1_000, in: SampleData.otherCollection)
    _ = try store.apply(bench.event(villages, bench.size + 1))
    var client = try BenchClient(store)
    for number in 0..<pending { try client.write([patch(bench.documents[number % bench.size], number)]) }
    _ = client.listen(Workbench.equalityQuery(11, in: SampleData.otherCollection))
    for round in 0..<9 {
      client.forgetEffects()
      let mutations = (0..<100).map { patch(villages[round * 100 + $0], $0) }
      reading.samples.append(
        try measure(count: mutations.count) { for mutation in mutations { try client.write([mutation]) } }.sample)
    }
    client.close()
    return reading
  }
}

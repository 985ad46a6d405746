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
    }
  ]
}

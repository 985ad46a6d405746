// SPDX-License-Identifier: Apache-2.0

#if HEARTH_CORE
  extension BenchmarkCase {
    /// Empty in a build without gRPC, because these cases need the public API.
    static let endToEndCases: [BenchmarkCase] = []
  }
#else
  import BenchmarkResults
  import FirestoreModel
  import Hearth

  extension BenchmarkCase {
    /// Cases that measure complete calls of a program: through the public API, the engine and its queue, with a cache
    /// on disk and the embedded backend in memory.
    static let endToEndCases = [
      BenchmarkCase(name: "end-to-end-listen", summary: "a collection from the backend into a new listener") { bench in
        var reading = Reading(unit: .documentsPerSecond, samples: [])
        let server = try await EndToEnd(bench)
        for _ in 0..<min(bench.repetitions, 3) {
          let path = bench.newPath()
          defer { bench.remove(path) }
          let client = server.client(path)
          let memory = MemoryGrowth()
          let sample = try await measureAsync(count: bench.size) {
            for try await snapshot in client.collection(EndToEnd.collection).snapshots(includeMetadataChanges: true)
            where !snapshot.metadata.isFromCache {
              guard snapshot.count == bench.size else { throw EndToEnd.Failure.wrongCount(snapshot.count) }
              break
            }
          }
          reading.peak = [reading.peak, memory.peak].compactMap(\.self).max()
          reading.samples.append(sample)
          try await client.terminate()
        }
        return [reading]
      },
      BenchmarkCase(name: "end-to-end-change", summary: "another client's write until a listener shows it") { bench in
        let server = try await EndToEnd(bench)
        return [
          try await changes(bench, server) { _, number in try await server.commit(number) }
        ]
      },
      BenchmarkCase(name: "end-to-end-write", summary: "a program's write until it is shown as acknowledged") { bench in
        let server = try await EndToEnd(bench)
        return [
          try await changes(bench, server) { client, number in
            _ = try client.document(server.changing.path.text).enqueueUpdate(["population": number])
          }
        ]
      },
    ]

    /// Measures consecutive changes of a document. Each measurement ends when a listener whose query matches one in
    /// fifty documents reports the change as acknowledged.
    @MainActor private static func changes(
      _ bench: Workbench, _ server: EndToEnd, _ change: (Firestore, Int) async throws -> Void
    ) async throws -> Reading {
      let path = bench.newPath()
      defer { bench.remove(path) }
      let client = server.client(path)
      var reading = Reading(unit: .microseconds, samples: [])
      var snapshots = server.watched(client).snapshots(includeMetadataChanges: true).makeAsyncIterator()
      while let snapshot = try await snapshots.next(isolation: #isolation), snapshot.metadata.isFromCache {}
      let perRound = 200
      let memory = MemoryGrowth()
      for round in 0..<bench.repetitions {
        let sample = try await measureAsync(count: perRound) {
          for number in round * perRound..<(round + 1) * perRound {
            let start = ContinuousClock.now
            try await change(client, number)
            while let snapshot = try await snapshots.next(isolation: #isolation) {
              let isShown = snapshot.documentChanges(includeMetadataChanges: true).contains {
                $0.document.documentID == server.changing.documentID && $0.document.get("population") as? Int == number
              }
              if isShown, !snapshot.metadata.hasPendingWrites { break }
            }
            reading.latencies.append(seconds(from: start))
          }
        }
        reading.samples.append(sample)
      }
      reading.peak = memory.peak
      try await client.terminate()
      return reading
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if HEARTH_CORE
  extension BenchmarkCase {
    /// Empty in a build without gRPC, because these cases need the public API.
    static let listenerCases: [BenchmarkCase] = []
  }
#else
  import BenchmarkResults
  import FirestoreModel
  import Hearth

  extension BenchmarkCase {
    /// Cases that measure the time until a program's callback is called, with the public API and the embedded backend.
    /// Each operation starts when the previous operation has ended.
    static let listenerCases = [
      BenchmarkCase(
        name: "listen-to-callback",
        summary: "addSnapshotListener until its callbacks from cache and backend; result: 1 document in 50"
      ) { bench in
        let server = try await EndToEnd(bench)
        return [
          try await firstCallback(bench, server, "from the cache") { _ in true },
          try await firstCallback(bench, server, "again from the backend") {
            !$0.snapshot.metadata.isFromCache
          },
        ]
      },
      BenchmarkCase(
        name: "write-to-callback", summary: "a write until the callback that shows it, with the network off"
      ) { bench in
        let server = try await EndToEnd(bench)
        return [
          try await callbacks(bench, server, isOnline: false) { client, number in
            _ = try client.document(server.changing.path.text).enqueueUpdate(["population": number])
          }
        ]
      },
      BenchmarkCase(
        name: "change-to-callback", summary: "another client's write until a callback; 1, 100, 10000 listeners"
      ) { bench in
        let server = try await EndToEnd(bench)
        var readings: [Reading] = []
        for listeners in [1, 100, 10_000] where listeners <= bench.size {
          var reading = try await callbacks(bench, server, listeners: listeners) { _, number in
            try await server.commit(number)
          }
          reading.variant = "\(listeners) listener\(listeners == 1 ? "" : "s")"
          reading.dimension = .listeners(listeners)
          readings.append(reading)
        }
        return readings
      },
    ]

    private static let perRound = 100

    /// Measures how long a new listener waits for its first callback, repeatedly and with the documents already in the
    /// client's cache.
    @MainActor private static func firstCallback(
      _ bench: Workbench, _ server: EndToEnd, _ variant: String, until isMeant: (Callbacks.Event) -> Bool
    ) async throws -> Reading {
      var reading = Reading(variant: variant, unit: .microseconds, samples: [])
      let path = bench.newPath()
      defer { bench.remove(path) }
      let client = server.client(path)
      let query = server.watched(client)
      var first = Callbacks(query, of: server.changing.documentID)
      let count = try await first.next { !$0.snapshot.metadata.isFromCache }.snapshot.count
      first.remove()
      let memory = MemoryGrowth()
      for _ in 0..<bench.repetitions {
        var round: [Double] = []
        let start = Start()
        for _ in 0..<perRound / 5 {
          let begun = ContinuousClock.now
          var listener = Callbacks(query, of: server.changing.documentID)
          let event = try await listener.next(where: isMeant)
          round.append(seconds(from: begun, to: event.time))
          guard event.snapshot.count == count else { throw EndToEnd.Failure.wrongCount(event.snapshot.count) }
          listener.remove()
        }
        reading.add(round, since: start)
      }
      reading.peak = memory.peak
      try await client.terminate()
      return reading
    }

    /// Measures consecutive changes of a document. Each measurement ends with the callback of a listener whose query
    /// matches one in fifty documents.
    /// - Parameter listeners: the total number of listeners. Each of the other listeners is for a different document.
    @MainActor private static func callbacks(
      _ bench: Workbench, _ server: EndToEnd, listeners: Int = 1, isOnline: Bool = true,
      _ change: (Firestore, Int) async throws -> Void
    ) async throws -> Reading {
      var reading = Reading(unit: .microseconds, samples: [])
      let path = bench.newPath()
      defer { bench.remove(path) }
      let client = server.client(path)
      var listener = Callbacks(server.watched(client), of: server.changing.documentID)
      _ = try await listener.next { !$0.snapshot.metadata.isFromCache }
      let others = bench.documents.lazy.map(\.key).filter { $0 != server.changing }.prefix(listeners - 1)
      for key in others { client.document(key.path.text).addSnapshotListener { _, _ in } }
      // This change arrives only after all other listeners have been added.
      try await server.commit(-1)
      _ = try await listener.next { $0.number == -1 }
      if !isOnline { try await client.disableNetwork() }
      let memory = MemoryGrowth()
      // A change with thousands of listeners takes 0.25 s, so fewer changes are measured.
      let perRound = listeners > 1_000 ? perRound / 10 : perRound
      for round in 0..<min(bench.repetitions, listeners > 1_000 ? 3 : bench.repetitions) {
        var durations: [Double] = []
        let start = Start()
        for number in round * perRound..<(round + 1) * perRound {
          let begun = ContinuousClock.now
          try await change(client, number)
          durations.append(seconds(from: begun, to: try await listener.next { $0.number == number }.time))
        }
        reading.add(durations, since: start)
      }
      reading.peak = memory.peak
      try await client.terminate()
      return reading
    }
  }
#endif

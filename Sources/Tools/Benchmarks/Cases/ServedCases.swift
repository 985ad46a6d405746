// SPDX-License-Identifier: Apache-2.0

#if HEARTH_CORE
  extension BenchmarkCase {
    /// Empty in a build without gRPC, because these cases need the public API.
    static let servedCases: [BenchmarkCase] = []
  }
#else
  import BenchmarkResults
  import FirestoreGRPC
  import FirestoreModel
  import Foundation

  extension BenchmarkCase {
    /// Cases with a client in a separate process. The client is connected to `hearth serve` in another process.
    /// `.ci/measure clients` runs the same work with Google's clients.
    static let servedCases = [
      BenchmarkCase(
        name: "served-listen", summary: "a collection over a socket into a new client; cache in memory, on disk"
      ) { bench in
        guard let program = HearthProgram.path else {
          HearthProgram.tellThatItIsMissing(to: "served-listen")
          return []
        }
        let server = try ServedBackend(program)
        defer { server.stop() }
        try await load(bench, server)
        return try [ServedClient.Cache.memory, .disk].map { cache in
          var reading = Reading(variant: cache.rawValue, unit: .documentsPerSecond, goal: nil, samples: [])
          for _ in 0..<min(bench.repetitions, 3) {
            let result = try ServedClient(port: server.port, work: .listen, cache: cache).start().result()
            guard result.count == bench.size else { throw EndToEnd.Failure.wrongCount(result.count) }
            reading.samples.append(result.sample)
            reading.peak = max(reading.peak ?? 0, result.peak)
          }
          return reading
        }
      },
      BenchmarkCase(
        name: "served-change", summary: "another client's write over a socket until a callback; peak of the process"
      ) { bench in
        guard let program = HearthProgram.path else {
          HearthProgram.tellThatItIsMissing(to: "served-change")
          return []
        }
        let server = try ServedBackend(program)
        defer { server.stop() }
        let other = datastore(server)
        let key = DocumentKey(unchecked: ResourcePath(ServedClient.changing))
        func change(_ number: Int) async throws {
          let sent = Int64(ServedClient.nanosecondsSinceEpoch())
          let fields: Fields = ["number": .integer(Int64(number)), "sent": .integer(sent)]
          _ = try await other.commit([Mutation(key: key, operation: .set(fields))])
        }
        try await change(-1)
        let client = try ServedClient(port: server.port, work: .change, cache: .disk).start()
        try client.waitUntilReady()
        // There is one change every 2 ms, so that the listener sees each of them.
        let start = ContinuousClock.now
        for number in 0..<ServedClient.changes {
          try await change(number)
          try await Task.sleep(until: start + .milliseconds(2 * (number + 1)), clock: .continuous)
        }
        return [try client.result().reading]
      },
      BenchmarkCase(
        name: "served-write", summary: "a program's write over a socket until it is acknowledged; peak of the process"
      ) { _ in
        guard let program = HearthProgram.path else {
          HearthProgram.tellThatItIsMissing(to: "served-write")
          return []
        }
        let server = try ServedBackend(program)
        defer { server.stop() }
        return [try ServedClient(port: server.port, work: .write, cache: .disk).start().result().reading]
      },
    ]

    private static func datastore(_ server: ServedBackend) -> GRPCDatastore {
      GRPCDatastore(
        Endpoint(host: "127.0.0.1", port: server.port, security: .plaintext),
        database: DatabaseID(project: ServedClient.project), credentials: .emulatorOwner)
    }

    @MainActor private static func load(_ bench: Workbench, _ server: ServedBackend) async throws {
      let datastore = datastore(server)
      for documents in bench.snapshots() {
        _ = try await datastore.commit(
          documents.map { Mutation(key: $0.key, operation: .set($0.data?.fields ?? [:])) })
      }
    }
  }
#endif

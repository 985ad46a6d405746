// SPDX-License-Identifier: Apache-2.0

#if HEARTH_CORE
  extension BenchmarkCase {
    /// The public API is not there without gRPC.
    static let endToEndCases: [BenchmarkCase] = []
  }
#else
  import FirestoreBackend
  import FirestoreModel
  import FirestoreQuery
  import Hearth

  extension BenchmarkCase {
    /// The whole way of a program's calls: public API, engine and mailbox, with a durable cache on one side and the
    /// embedded backend in memory on the other.
    static let endToEndCases = [
      BenchmarkCase(name: "end-to-end-listen", summary: "a collection from the backend into a new listener") { bench in
        var reading = Reading(unit: .documentsPerSecond, samples: [])
        let server = try await EndToEnd(bench)
        for _ in 0..<min(bench.repetitions, 3) {
          let path = bench.newPath()
          defer { bench.remove(path) }
          let client = server.client(path)
          let sample = try await measureAsync(count: bench.size) {
            for try await snapshot in client.collection(EndToEnd.collection).snapshots(includeMetadataChanges: true)
            where !snapshot.metadata.isFromCache {
              guard snapshot.count == bench.size else { throw EndToEnd.Failure.wrongCount(snapshot.count) }
              break
            }
          }
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

    /// One change after the other, each until a listener on one document in fifty shows it as the backend's.
    @MainActor private static func changes(
      _ bench: Workbench, _ server: EndToEnd, _ change: (Firestore, Int) async throws -> Void
    ) async throws -> Reading {
      let path = bench.newPath()
      defer { bench.remove(path) }
      let client = server.client(path)
      var reading = Reading(unit: .microseconds, samples: [])
      let query = client.collection(EndToEnd.collection).whereField("state", isEqualTo: "state-07")
      var snapshots = query.snapshots(includeMetadataChanges: true).makeAsyncIterator()
      while let snapshot = try await snapshots.next(isolation: #isolation), snapshot.metadata.isFromCache {}
      let perRound = 200
      for round in 0..<bench.repetitions {
        let sample = try await measureAsync(count: perRound) {
          for number in round * perRound..<(round + 1) * perRound {
            try await change(client, number)
            while let snapshot = try await snapshots.next(isolation: #isolation) {
              let isShown = snapshot.documentChanges(includeMetadataChanges: true).contains {
                $0.document.documentID == server.changing.documentID && $0.document.get("population") as? Int == number
              }
              if isShown, !snapshot.metadata.hasPendingWrites { break }
            }
          }
        }
        reading.samples.append(sample)
      }
      try await client.terminate()
      return reading
    }
  }

  /// An embedded backend that holds the sample data.
  private struct EndToEnd {
    enum Failure: Error { case wrongCount(Int) }

    static let collection = "cities"
    private static let database = DatabaseID(project: "bench")

    /// A document with the state that is listened to.
    let changing: DocumentKey
    private let backend: LocalBackend

    @MainActor init(_ bench: Workbench) async throws {
      let query = Workbench.equalityQuery(Workbench.syncedState)
      guard let first = bench.documents.first(where: { query.matches($0) }) else { throw Failure.wrongCount(0) }
      changing = first.key
      backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_800_000_000) }))
      for documents in bench.snapshots() {
        _ = try await backend.commit(
          documents.map { Mutation(key: $0.key, operation: .set($0.data?.fields ?? [:])) }, in: Self.database)
      }
    }

    /// Writes as another client.
    func commit(_ number: Int) async throws {
      let fields: Fields = ["population": .integer(Int64(number))]
      let mutation = Mutation(key: changing, operation: .patch(fields, FieldMask([FieldPath("population")])))
      _ = try await backend.commit([mutation], in: Self.database)
    }

    func client(_ path: String) -> Firestore {
      Firestore.firestore(
        app: FirestoreApp(
          name: path, projectID: "bench",
          backend: .datastore(InProcessDatastore(backend: backend, database: Self.database)), cacheDirectory: path))
    }
  }
#endif

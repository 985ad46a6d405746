// SPDX-License-Identifier: Apache-2.0

#if !HEARTH_CORE
  import BenchmarkResults
  import FirestoreBackend
  import FirestoreModel
  import FirestoreQuery
  import Foundation
  import Hearth

  /// An embedded backend that contains the sample data.
  struct EndToEnd {
    enum Failure: Error { case wrongCount(Int), ended }

    static let collection = "cities"
    private static let database = DatabaseID(project: "bench")

    /// A document in the listener's result. The benchmark changes this document.
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

    /// Commits a change as another client.
    func commit(_ number: Int) async throws {
      let fields: Fields = ["population": .integer(Int64(number))]
      let mutation = Mutation(key: changing, operation: .patch(fields, FieldMask([FieldPath("population")])))
      _ = try await backend.commit([mutation], in: Self.database)
    }

    /// Stores documents with five simple fields in a separate collection.
    func commitSimple(_ documents: ArraySlice<Document>, into collection: String) async throws {
      let names = ["name", "state", "population", "rating", "isCapital"]
      for first in stride(from: documents.startIndex, to: documents.endIndex, by: 500) {
        let mutations = documents[first..<min(first + 500, documents.endIndex)].map { document in
          var fields = Fields()
          for name in names { fields[name] = document[FieldPath(name)] }
          let path = ResourcePath(collection).appending(document.key.documentID)
          return Mutation(key: DocumentKey(unchecked: path), operation: .set(fields))
        }
        _ = try await backend.commit(mutations, in: Self.database)
      }
    }

    func client(_ path: String) -> Firestore {
      Firestore.firestore(
        app: FirestoreApp(
          name: path, projectID: "bench",
          backend: .datastore(InProcessDatastore(backend: backend, database: Self.database)), cacheDirectory: path))
    }

    /// The query that matches one in fifty documents, including the document that changes.
    func watched(_ client: Firestore) -> QueryDefinition {
      client.collection(Self.collection).whereField("state", isEqualTo: "state-07").definition
    }
  }

  /// The callbacks of one listener. They arrive on the main queue, as in an app.
  struct Callbacks {
    struct Event: Sendable {
      let time = ContinuousClock.now
      let snapshot: QuerySnapshot
      /// The value of the changed document in this snapshot; `nil` if it has not changed.
      let number: Int?
    }

    private var events: AsyncThrowingStream<Event, any Error>.Iterator
    private let registration: any ListenerRegistration

    /// - Parameter document: the id of the document whose `population` is read.
    init(_ query: QueryDefinition, of document: String) {
      let (stream, continuation) = AsyncThrowingStream<Event, any Error>.makeStream()
      registration = query.addSnapshotListener(includeMetadataChanges: true) { snapshot, error in
        guard let snapshot else { return continuation.finish(throwing: error) }
        let changed = snapshot.documentChanges(includeMetadataChanges: true)
          .first { $0.document.documentID == document }
        continuation.yield(Event(snapshot: snapshot, number: changed?.document.get("population") as? Int))
      }
      events = stream.makeAsyncIterator()
    }

    /// Waits for the next callback that satisfies a condition.
    @MainActor mutating func next(where isMeant: (Event) -> Bool) async throws -> Event {
      while let event = try await events.next(isolation: #isolation) {
        if isMeant(event) { return event }
      }
      throw EndToEnd.Failure.ended
    }

    func remove() { registration.remove() }
  }

  extension Reading {
    /// Adds a round of single operations with known durations.
    mutating func add(_ round: [Double], since start: Start) {
      var sample = start.sample(count: round.count)
      sample.wall = round.reduce(0, +)
      samples.append(sample)
      latencies += round
    }
  }

  /// The time between two moments in seconds.
  func seconds(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant = .now) -> Double {
    start.duration(to: end) / .seconds(1)
  }
#endif

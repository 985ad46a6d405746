// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreBackend

@Suite struct InProcessDatastoreTests {
  /// Runs a watch stream around `body`; its status when `body` has returned and the stream has been cancelled, or has
  /// ended by itself.
  static func watching(
    _ datastore: any Datastore, endsByItself: Bool = false,
    _ body: (Channel<WatchRequest>, Channel<WatchEvent>) async throws -> Void
  ) async throws -> RPCStatus? {
    let (requests, events) = (Channel<WatchRequest>(), Channel<WatchEvent>())
    return try await withThrowingTaskGroup(of: RPCStatus?.self) { group in
      group.addTask {
        do throws(RPCStatus) {
          try await datastore.watch(requests: requests.requests) { events.send($0) }
          return nil
        } catch { return error }
      }
      try await body(requests, events)
      if !endsByItself { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }

  /// Messages up to the next snapshot.
  static func snapshot(_ events: Channel<WatchEvent>, _ client: inout WatchClient) async {
    while case .changes(let changes)? = await events.next() {
      for change in changes { client.apply(change) }
      if changes.contains(where: \.isSnapshot) { return }
    }
  }

  static func isOpened(_ event: WatchEvent?) -> Bool { if case .opened? = event { true } else { false } }

  @Test("A watch stream opens, responds, sends later commits and can be canceled")
  func watch() async throws {
    let backend = try makeBackend()
    let datastore = InProcessDatastore(backend: backend, database: database)
    var client = WatchClient()
    let status = try await Self.watching(datastore) { requests, events in
      #expect(Self.isOpened(await events.next()))
      requests.send(.add(WatchTarget(id: 2, target: query("c"))))
      await Self.snapshot(events, &client)
      _ = try await datastore.commit([set("c/a", [:]), set("c/b", [:])])
      await Self.snapshot(events, &client)
      #expect(await backend.watchCount == 1)
    }
    #expect(client.log == ["ADD [2]", "CURRENT [2]", "SNAPSHOT", "DOC c/a +[2] -[]", "DOC c/b +[2] -[]", "SNAPSHOT"])
    #expect(status?.code == .cancelled)
    #expect(await backend.watchCount == 0)
  }

  @Test("A watch stream ends when its requests end, and fails after an invalid request")
  func ends() async throws {
    let backend = try makeBackend()
    let datastore = InProcessDatastore(backend: backend, database: database)
    let (requests, bad) = (Channel<WatchRequest>(), Channel<WatchRequest>())
    requests.finish()
    let ended = await #expect(throws: RPCStatus.self) {
      try await datastore.watch(requests: requests.requests) { _ in }
    }
    bad.send(.add(WatchTarget(id: -4, target: query("c"))))
    let failed = await #expect(throws: RPCStatus.self) { try await datastore.watch(requests: bad.requests) { _ in } }
    #expect(ended?.code == .unavailable)
    #expect(failed?.code == .invalidArgument)
    #expect(await backend.watchCount == 0)
  }

  @Test("S4: Batches commit in order; a failing batch ends the stream before later ones")
  func writeStream() async throws {
    let backend = try makeBackend()
    let datastore = InProcessDatastore(backend: backend, database: database)
    let (requests, events) = (Channel<WriteRequest>(), Channel<WriteEvent>())
    for mutation in [
      set("c/a", ["n": 1]), transform("c/a", .increment(1)), set("c/a", [:], .exists(false)), set("c/late", [:]),
    ] {
      requests.send(WriteRequest(streamToken: [0], mutations: [mutation]))
    }
    requests.finish()

    let status = await #expect(throws: RPCStatus.self) {
      try await datastore.write(requests: requests.requests) { events.send($0) }
    }
    events.finish()

    #expect(status?.code == .alreadyExists)
    var (tokens, times): (Set<[UInt8]>, [SnapshotVersion]) = ([], [])
    while let event = await events.next() {
      switch event {
      case .opened(let token): tokens.insert(token)
      case .committed(let token, let response):
        tokens.insert(token)
        times.append(response.commitTime)
      }
    }
    #expect(times.count == 2 && times[0] < times[1])
    #expect(tokens.count == 3 && !tokens.contains([]))
    #expect(try await backend.read("c/late").exists == false)
  }

  @Test("A write stream ends cleanly when its requests end")
  func writeStreamEnds() async throws {
    let datastore = InProcessDatastore(backend: try makeBackend(), database: database)
    let requests = Channel<WriteRequest>()
    requests.finish()
    try await datastore.write(requests: requests.requests) { _ in }
  }

  @Test("Every unary call reaches the backend")
  func unary() async throws {
    let datastore = InProcessDatastore(backend: try makeBackend(), database: database)
    _ = try await datastore.commit([set("c/a", ["n": 4])])
    #expect(try await datastore.lookup([key("c/a")])[0]["n"] == 4)
    #expect(try await datastore.runQuery(query("c")).map(\.path) == ["c/a"])
    let sum = Aggregation(alias: "s", function: .sum(FieldPath("n")))
    #expect(try await datastore.aggregate(query("c"), [sum]) == ["s": 4])
    #expect(try await datastore.listCollectionIDs(below: .root) == ["c"])
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreBackend

@Suite struct FaultyDatastoreTests {
  private let backend: LocalBackend
  private let faults = FaultInjector(seed: 1)
  private let clock = ManualClock(patience: .seconds(Int64.max))
  private let datastore: FaultyDatastore

  init() throws {
    backend = try makeBackend()
    datastore = FaultyDatastore(
      InProcessDatastore(backend: backend, database: database), faults: faults, clock: clock)
  }

  /// Sends increments on one write stream until it ends.
  /// - Returns: how many were answered, and the status.
  private func write(_ count: Int, firstBatch: Int64 = 1) async -> (answers: Int, status: RPCStatus?) {
    let (requests, events) = (Channel<WriteRequest>(), Channel<WriteEvent>())
    for offset in 0..<count {
      let id = WriteRequestID(clientID: [1], batchID: BatchID(firstBatch + Int64(offset)))
      requests.send(WriteRequest(streamToken: [], mutations: [transform("c/a", .increment(1))], requestID: id))
    }
    requests.finish()
    var status: RPCStatus?
    do throws(RPCStatus) {
      try await datastore.write(requests: requests.requests) { events.send($0) }
    } catch { status = error }
    events.finish()
    var answers = 0
    while let event = await events.next() { if case .committed = event { answers += 1 } }
    return (answers, status)
  }

  @Test("Without faults every call reaches the backend")
  func transparent() async throws {
    let (answers, status) = await write(3)
    #expect(answers == 3 && status == nil)
    #expect(try await datastore.lookup([key("c/a")])[0]["v"] == 3)
  }

  @Test("Going offline breaks streams and rejects calls until the network is back")
  func offline() async throws {
    let status = try await InProcessDatastoreTests.watching(datastore, endsByItself: true) { requests, events in
      #expect(InProcessDatastoreTests.isOpened(await events.next()))
      faults.update { $0.isOffline = true }
      await #expect(throws: RPCStatus.self) { try await datastore.runQuery(query("c")) }
    }
    #expect(status?.code == .unavailable)
    #expect(await backend.watchCount == 0)
    faults.update { $0.isOffline = false }
    #expect(try await datastore.runQuery(query("c")).isEmpty)
  }

  @Test("A lost response leaves the write applied, and a retry does not repeat it")
  func lostAnswer() async throws {
    faults.inject(.dropAcknowledgement)
    let first = await write(1)
    #expect(first.answers == 0 && first.status?.code == .unavailable)
    #expect(try await backend.read("c/a")["v"] == 1)

    let second = await write(2)

    #expect(second.answers == 2 && second.status == nil)
    #expect(try await backend.read("c/a")["v"] == 2)
  }

  @Test("A lost request is not applied")
  func lostRequest() async throws {
    faults.inject(.dropRequest)
    let (answers, status) = await write(2)
    #expect(answers == 0 && status?.code == .unavailable)
    #expect(try await backend.read("c/a").exists == false)
  }

  @Test("A rejected write ends the stream with the given code", arguments: [StatusCode.permissionDenied, .aborted])
  func refused(code: StatusCode) async throws {
    faults.inject(.reject(code))
    let (answers, status) = await write(2)
    #expect(answers == 0 && status?.code == code)
    #expect(try await backend.read("c/a").exists == false)
    faults.inject(.reject(code))
    let error = await #expect(throws: RPCStatus.self) { try await datastore.commit([set("c/a", [:])]) }
    #expect(error?.code == code)
  }

  @Test("A half-open stream delivers neither messages nor an error until it breaks")
  func halfOpen() async throws {
    var messages: Channel<WatchEvent>?
    let status = try await InProcessDatastoreTests.watching(datastore, endsByItself: true) { requests, events in
      messages = events
      #expect(InProcessDatastoreTests.isOpened(await events.next()))
      var client = WatchClient()
      requests.send(.add(WatchTarget(id: 2, target: query("c"))))
      await InProcessDatastoreTests.snapshot(events, &client)
      faults.update { $0.isHalfOpen = true }
      try await backend.commit(set("c/a", [:]))
      faults.update { $0.isHalfOpen = false }
    }
    #expect(status == FaultInjector.broken)
    messages?.finish()
    #expect(await messages?.next() == nil)
  }

  @Test("Latency and jitter delay requests and responses on the given clock")
  func latency() async throws {
    faults.update {
      $0.latency = .milliseconds(100)
      $0.jitter = .milliseconds(50)
    }
    _ = await write(1)
    let waits = clock.delays
    #expect(waits.count == 3)
    #expect(waits.allSatisfy { $0 >= .milliseconds(100) && $0 < .milliseconds(150) })
    #expect(Set(waits).count == 3)
  }

  @Test("A random share of responses is lost, and the same seed loses the same responses")
  func chance() async throws {
    func losses() async -> [Bool] {
      let faults = FaultInjector(seed: 7)
      faults.update { $0.lostAcknowledgements = 30 }
      return (0..<200).map { _ in faults.takeWriteFault() == .dropAcknowledgement }
    }
    let first = await losses()
    #expect(first == (await losses()))
    #expect((30...90).contains(first.count(where: { $0 })))
  }
}

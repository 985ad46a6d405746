// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting

@testable import FirestoreBackend
@testable import FirestoreSync

/// Several clients of one backend, performing a trace step by step.
///
/// Runs inside of the backend's isolation, so that every step of it is synchronous too.
final class World {
  private let server = ObservedBackend(DatabaseID(project: "model"))
  private let clock: TestClock
  private let clients: [ModelClient]
  private(set) var stepsDone = 0

  init(_ setups: [ModelClient.Setup], seed: UInt64, clock: TestClock) throws {
    self.clock = clock
    let server = server
    clients = try setups.enumerated().map { index, setup in
      try ModelClient(index, setup, server, seed: seed)
    }
  }

  /// - Parameter isThorough: compare everything after each step, not only now and then.
  /// - Throws: `Violation` by the first step after which something is seen to be wrong.
  func perform(
    _ trace: [Operation], isThorough: Bool, on backend: isolated LocalBackend,
    _ willPerform: (Operation) -> Void = { _ in }
  ) async throws {
    for operation in trace {
      willPerform(operation)
      let delivered = clients.map(\.deliveries)
      try await perform(operation, backend)
      stepsDone += 1
      for (client, before) in zip(clients, delivered) {
        client.closeAbandonedSessions(backend)
        let wasShown = client.deliveries != before
        try client.check(isThorough: isThorough || stepsDone % 16 == client.index || (wasShown && stepsDone % 3 == 0))
        if isThorough || stepsDone % 64 == client.index { try client.checkStore() }
      }
    }
  }

  private func perform(_ operation: Operation, _ backend: isolated LocalBackend) async throws {
    switch operation {
    case .write(let client, let mutations): try clients[client].write(mutations, at: clock.now())
    case .cancelWrite(let client, let position): try clients[client].cancelWrite(at: position)
    case .waitForPendingWrites(let client): try clients[client].waitForPendingWrites()
    case .listen(let client, let query, let options): try clients[client].listen(to: ModelQueries.all[query], options)
    case .stopListening(let client, let position): try clients[client].stopListening(at: position)
    case .enableNetwork(let client): try clients[client].transition { core in core.enableNetwork() }
    case .disableNetwork(let client): try clients[client].transition { core in core.disableNetwork() }
    case .retryNow(let client): try clients[client].retryNow()
    case .restart(let client, let isKilled): try clients[client].restart(isKilled: isKilled, backend)
    case .changeUser(let client, let user): try clients[client].changeUser(to: ModelClient.users[user])
    case .setIndexes(let client, let positions):
      try clients[client].setIndexes(positions.map { ModelQueries.indexes[$0] })
    case .deleteAllIndexes(let client): try clients[client].setIndexes(nil)
    case .createIndexesAutomatically(let client, let isOn): clients[client].createIndexesAutomatically(isOn)
    case .loadBundle(let client, let choice):
      if let bundle = server.bundle(choice) { try clients[client].load(bundle) }
    case .open(let client, let kind): try clients[client].open(kind, backend)
    case .breakStream(let client, let kind, let code): try clients[client].breakStream(kind, code)
    case .send(let client, let kind, let count): for _ in 0..<count { try clients[client].send(kind, backend) }
    case .serve(let client): try clients[client].serve(backend)
    case .deliver(let client, let kind, let count):
      for _ in 0..<count { guard try clients[client].deliver(kind, backend) else { break } }
    case .deliverStale(let client): try clients[client].deliverStale()
    case .rejectNextWrite(let client, let code): clients[client].nextRejection = code
    case .refuseTarget(let client, let position): try clients[client].refuseTarget(at: position, backend)
    case .fire(let client, let timer):
      try clients[client].fire(timer)
    case .failStore(let client, let action): clients[client].core!.store.faults.insert(action)
    case .healStore(let client): clients[client].core!.store.faults = []
    case .collectGarbage(let client, let percentile):
      _ = try clients[client].core!.store.collectGarbage(
        thresholdBytes: 0, percentile: percentile, maximumSequenceNumbers: 1000)
    case .backendWrite(let mutations):
      // One that the backend refuses changes nothing.
      do { try server.commit(server.resolved(mutations), on: backend) } catch is RPCStatus {}
    case .clearBackend: try server.clear(backend)
    case .heartbeat: backend.heartbeat()
    case .advanceClock(let milliseconds): clock.advance(1000 * Int64(milliseconds))
    case .network, .passTime: break  // Of engines only.
    case .comeToRest: try await comeToRest(backend)
    }
  }

  private func comeToRest(_ backend: isolated LocalBackend) async throws {
    try settle(backend)
    // What a client learned in another order than it happened is cleared up with the next position.
    backend.heartbeat()
    try settle(backend)
    try await server.check(backend)
    for client in clients {
      try client.checkAtRest()
      try client.checkStore()
    }
  }

  private func settle(_ backend: isolated LocalBackend) throws {
    for round in 0... {
      try require(round < 100, "the clients do not come to rest")
      var didSomething = false
      for client in clients where try client.settle(backend) { didSomething = true }
      if !didSomething { break }
    }
  }
}

import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreRemote
import Synchronization

// SPDX-License-Identifier: Apache-2.0
@testable import FirestoreBackend
@testable import FirestoreSync

/// Time that moves when told to, and by a microsecond whenever somebody looks.
final class VirtualClock: Sendable {
  private let microseconds = Mutex<Int64>(1_000_000_000_000_000)

  func now() -> Timestamp {
    microseconds.withLock { value in
      value += 1
      return Timestamp(microseconds: value)
    }
  }

  func advance(milliseconds: Int) { microseconds.withLock { $0 += Int64(milliseconds) * 1000 } }
}

/// Several clients of one backend, performing a trace step by step.
///
/// Runs inside of the backend's isolation, so that every step of it is synchronous too.
final class World {
  private let database = DatabaseID(project: "model")
  private let clock: VirtualClock
  private let clients: [ModelClient]
  private(set) var stepsDone = 0

  init(_ setups: [ModelClient.Setup], seed: UInt64, clock: VirtualClock) throws {
    self.clock = clock
    let database = database
    clients = try setups.enumerated().map { index, setup in
      try ModelClient(index, setup, database: database, seed: seed)
    }
  }

  /// - Parameter isThorough: compare everything after each step, not only now and then.
  /// - Throws: `Violation` by the first step after which something is seen to be wrong.
  func perform(
    _ trace: [Operation], isThorough: Bool, on backend: isolated LocalBackend,
    _ willPerform: (Operation) -> Void = { _ in }
  ) throws {
    for operation in trace {
      willPerform(operation)
      let delivered = clients.map(\.deliveries)
      try perform(operation, backend)
      stepsDone += 1
      for (client, before) in zip(clients, delivered) {
        client.closeAbandonedSessions(backend)
        let wasShown = client.deliveries != before
        try client.check(isThorough: isThorough || stepsDone % 16 == client.index || (wasShown && stepsDone % 3 == 0))
        if isThorough || stepsDone % 64 == client.index { try client.checkStore() }
      }
    }
  }

  private func perform(_ operation: Operation, _ backend: isolated LocalBackend) throws {
    switch operation {
    case .write(let client, let mutations): try clients[client].write(mutations, at: clock.now())
    case .cancelWrite(let client, let position): try clients[client].cancelWrite(at: position)
    case .waitForPendingWrites(let client): try clients[client].waitForPendingWrites()
    case .listen(let client, let query, let options): try clients[client].listen(to: ModelQueries.all[query], options)
    case .stopListening(let client, let position): try clients[client].stopListening(at: position)
    case .enableNetwork(let client): try clients[client].transition { core, effects in core.enableNetwork(&effects) }
    case .disableNetwork(let client): try clients[client].transition { core, effects in core.disableNetwork(&effects) }
    case .retryNow(let client): try clients[client].transition { core, effects in core.retryNow(&effects) }
    case .restart(let client, let isKilled): try clients[client].restart(isKilled: isKilled, backend)
    case .open(let client, let kind): try clients[client].open(kind, database, backend)
    case .breakStream(let client, let kind, let code): try clients[client].breakStream(kind, code)
    case .send(let client, let kind, let count): for _ in 0..<count { try clients[client].send(kind, backend) }
    case .serve(let client): try clients[client].serve(database, backend)
    case .deliver(let client, let kind, let count):
      for _ in 0..<count { guard try clients[client].deliver(kind, backend) else { break } }
    case .deliverStale(let client): try clients[client].deliverStale()
    case .rejectNextWrite(let client, let code): clients[client].nextRejection = code
    case .refuseTarget(let client, let position): try clients[client].refuseTarget(at: position, database, backend)
    case .fire(let client, let timer):
      if clients[client].timers.remove(timer) != nil {
        try clients[client].transition { core, effects in core.fire(timer, &effects) }
      }
    case .failStore(let client, let action): clients[client].core!.store.faults.insert(action)
    case .healStore(let client): clients[client].core!.store.faults = []
    case .collectGarbage(let client, let percentile):
      _ = try clients[client].core!.store.collectGarbage(
        thresholdBytes: 0, percentile: percentile, maximumSequenceNumbers: 1000)
    case .backendWrite(let mutations):
      // One that the backend refuses changes nothing.
      _ = try? backend.commit(mutations, in: database)
    case .clearBackend: try backend.deleteAllDocuments(in: database)
    case .heartbeat: backend.heartbeat()
    case .advanceClock(let milliseconds): clock.advance(milliseconds: milliseconds)
    case .comeToRest: try comeToRest(backend)
    }
  }

  private func comeToRest(_ backend: isolated LocalBackend) throws {
    try settle(backend)
    // What a client learned in another order than it happened is cleared up with the next position.
    backend.heartbeat()
    try settle(backend)
    try checkBackend(backend)
    for client in clients {
      try client.checkAtRest(database, backend)
      try client.checkStore()
    }
  }

  private func settle(_ backend: isolated LocalBackend) throws {
    for round in 0... {
      try require(round < 100, "the clients do not come to rest")
      var didSomething = false
      for client in clients where try client.settle(database, backend) { didSomething = true }
      if !didSomething { break }
    }
  }

  /// The backend answers queries as somebody does who looks at every document.
  private func checkBackend(_ backend: isolated LocalBackend) throws {
    let documents = try backend.lookup(ModelQueries.keys, in: database)
    for (index, query) in ModelQueries.all.enumerated() {
      var found = try backend.runQuery(query.target, in: database)
      if query.limitType == .last { found.reverse() }
      let expected = ModelQueries.select(query, from: documents)
      try require(
        found.map(\.key) == expected.map(\.key),
        "the backend answers query \(index) with \(found.map(\.key)), not \(expected.map(\.key))")
    }
  }
}

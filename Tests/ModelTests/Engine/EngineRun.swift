// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreSync
import FirestoreTesting

/// A trace for engines, which run on their own while its steps are taken: what a seed stands for is what is done, not
/// in which order it happens. A failure may therefore not come again at once.
struct EngineRun: Sendable {
  let seed: UInt64
  let setups: [ModelClient.Setup]
  let trace: [Operation]

  init(seed: UInt64, steps: Int) {
    self.seed = seed
    let run = ModelRun(seed: seed, steps: steps, .engine)
    (setups, trace) = (run.setups, run.trace)
  }

  /// - Returns: `nil` if nothing is wrong.
  func failure() async throws -> ModelRun.Failure? {
    let clock = TestClock(1_000_000_000_000_000, tick: 1)
    let backend = try LocalBackend(BackendConfiguration(location: .memory) { clock.now() })
    let world = EngineWorld(setups, backend, clock, seed: seed)
    var step = 0
    var failure: ModelRun.Failure?
    do {
      for operation in trace {
        try await world.perform(operation)
        step += 1
      }
      try await world.finish()
    } catch {
      failure = ModelRun.Failure(step: step, violation: "\(error)")
    }
    await world.end()
    return failure
  }
}

/// Several engines of one backend.
final class EngineWorld {
  private let server = ObservedBackend(DatabaseID(project: "model"))
  private let backend: LocalBackend
  private let clock: TestClock
  private let time = TestClock(seconds: 1_000_000_000)
  private let clients: [EngineClient]
  private var beacon: Int64 = 0

  init(_ setups: [ModelClient.Setup], _ backend: LocalBackend, _ clock: TestClock, seed: UInt64) {
    (self.backend, self.clock) = (backend, clock)
    let (server, time) = (server, time)
    clients = setups.enumerated().map { index, setup in
      EngineClient(index, setup, server, backend, time, seed: seed &* 31 &+ UInt64(index))
    }
  }

  func perform(_ operation: Operation) async throws {
    time.advance(1000)
    switch operation {
    case .write(let client, let mutations): try await clients[client].write(mutations)
    case .cancelWrite(let client, let position): try await clients[client].cancelWrite(at: position)
    case .waitForPendingWrites(let client): await clients[client].waitForPendingWrites()
    case .listen(let client, let query, let options): await clients[client].listen(to: ModelQueries.all[query], options)
    case .stopListening(let client, let position): try await clients[client].stopListening(at: position)
    case .enableNetwork(let client): await clients[client].enableNetwork()
    case .disableNetwork(let client): await clients[client].disableNetwork()
    case .retryNow(let client): await clients[client].engine.retryNow()
    case .restart(let client, _): try await clients[client].restart()
    case .changeUser(let client, let user): await clients[client].changeUser(to: ModelClient.users[user])
    case .setIndexes(let client, let positions):
      try await clients[client].setIndexes(positions.map { ModelQueries.indexes[$0] })
    case .deleteAllIndexes(let client): try await clients[client].setIndexes(nil)
    case .createIndexesAutomatically(let client, let isOn): await clients[client].engine.setIndexAutoCreation(isOn)
    case .loadBundle(let client, let choice):
      if let bundle = server.bundle(choice) { try await clients[client].load(bundle) }
    case .collectGarbage(let client, _): try await clients[client].collectGarbage()
    case .rejectNextWrite(let client, let code): await clients[client].rejectNextWrite(code)
    case .breakStream(let client, _, _):
      clients[client].faults.update { $0.isOffline = true }
      clients[client].faults.update { $0.isOffline = false }
    case .network(let client, let fault): perform(fault, on: clients[client].faults)
    case .passTime(let client): clients[client].clock.pass()
    case .backendWrite(let mutations):
      do { try await server.commit(server.resolved(mutations), on: backend) } catch is RPCStatus {}
    case .clearBackend: try await server.clear(backend)
    case .heartbeat: await backend.heartbeat()
    case .advanceClock(let milliseconds): clock.advance(1000 * Int64(milliseconds))
    case .comeToRest: try await comeToRest()
    case .open, .send, .serve, .deliver, .deliverStale, .refuseTarget, .fire, .failStore, .healStore:
      // The engine does these by itself, or nobody can from outside.
      break
    }
    for client in clients {
      try await client.audit()
      try await client.checkDocuments()
    }
  }

  private func perform(_ fault: NetworkFault, on injector: FaultInjector) {
    switch fault {
    case .cut: injector.update { $0.isOffline = true }
    case .mute: injector.update { $0.isHalfOpen = true }
    case .loseRequest: injector.inject(.dropRequest)
    case .loseAnswer: injector.inject(.dropAcknowledgement)
    case .heal: injector.update { $0 = FaultSettings() }
    }
  }

  /// How many positions of the backend may pass until everybody has what it has: look-ups of what came in another order
  /// than it happened take some.
  private static let patience = 60

  /// Ends all faults, and lets the backend go on until all engines have followed.
  private func comeToRest() async throws {
    for client in clients { try await client.settleWrites() }
    var difference: String?
    for _ in 0..<Self.patience {
      beacon += 1
      let mark = Mutation(key: EngineClient.beaconKey, operation: .set(["n": .integer(beacon)]))
      try await server.commit([mark], on: backend)
      difference = nil
      for client in clients {
        try await client.follow(beacon)
        if difference == nil { difference = try await client.difference() }
      }
      if difference == nil { break }
    }
    if let difference { throw Violation(description: difference) }
    try await server.check(backend)
    for client in clients { await client.leaveRest() }
  }

  /// Comes to rest with every user.
  func finish() async throws {
    try await comeToRest()
    for client in clients {
      try await client.settleWrites()
      try await client.checkCarried(over: ModelClient.users)
    }
    try await comeToRest()
  }

  func end() async {
    for client in clients {
      // What went wrong before is told already.
      try? await client.end()
    }
  }
}

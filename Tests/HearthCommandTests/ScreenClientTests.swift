// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import CommandOutput
@testable import Dashboard
@testable import DashboardHost
@testable import DashboardModel

/// Clients on one screen, with real caches and queues, over one backend.
@MainActor
private final class StageHarness {
  let backend: LocalBackend
  private(set) var clientSet: ClientSet
  private var clients: [ClientNumber: ScreenClient] = [:]
  private var waiter: (isMet: () -> Bool, continuation: CheckedContinuation<Void, Never>)?

  private init() throws {
    backend = try LocalBackend(BackendConfiguration(location: .memory, now: { .now }))
    let configuration = DashboardConfiguration(
      database: database, backend: .init(.embedded, project: database.project))
    clientSet = ClientSet(
      DashboardSession(DashboardState(configuration, size: Size(width: 160, height: 48), now: .now)))
    open(clientSet.first.number)
  }

  static func run(_ body: @MainActor (StageHarness) async throws -> Void) async throws {
    let harness = try StageHarness()
    do { try await body(harness) } catch {
      await harness.end()
      throw error
    }
    await harness.end()
  }

  private func end() async { for client in clients.values { await client.end() } }

  private func open(_ number: ClientNumber) {
    guard let member = clientSet[number] else { return }
    clients[number] = ScreenClient(
      as: member.user, to: InProcessDatastore(backend: backend, database: database), database,
      faults: FaultInjector(seed: UInt64(number.rawValue)), startsOffline: false, transferPlace: (database, nil)
    ) { [weak self] in self?.apply(Action($0, at: .now), from: number) }
  }

  func apply(_ action: Action, from client: ClientNumber? = nil) {
    for effect in clientSet.apply(action, from: client).effects {
      switch effect.item {
      case .clientSet(.open): open(effect.client)
      case .client(let request): clients[effect.client]?.bridge.perform(request)
      default: break
      }
    }
    if let waiter, waiter.isMet() {
      self.waiter = nil
      waiter.continuation.resume()
    }
  }

  func run(_ command: String) { apply(.run(command, at: .now)) }
  func press(_ key: Character) { apply(.input(.key(.character(key)), at: .now)) }

  func write(_ name: String, _ mutation: Mutation) {
    guard let number = clientSet.members.first(where: { $0.name == name })?.number else { return }
    clients[number]?.bridge.perform(.write([mutation]))
  }

  func state(_ name: String) -> DashboardState {
    (clientSet.members.first { $0.name == name } ?? clientSet.first).session.live
  }

  /// Waits until the screen is as wanted, which each action can bring about.
  func until(_ isMet: @escaping () -> Bool) async {
    if isMet() { return }
    await withCheckedContinuation { waiter = (isMet, $0) }
  }

  /// Waits until a client shows this population of the city, as the server has it.
  func settled(_ name: String, _ population: Value?) async {
    await until { [self] in
      guard let document = state(name).document(key("cities/SF")) else { return false }
      return document.data?.fields["population"] == population && !document.hasPendingWrites
        && state(name).writes.waiting == 0
    }
  }

  func conflicts(_ name: String) -> [String] {
    state(name).feed.rows.filter { $0.kind == .conflict && $0.summary.hasPrefix("conflict: ") }.map(\.summary)
  }
}

@MainActor
@Suite("Several clients on one backend")
struct ScreenClientTests {
  private func population(_ value: Value) -> Mutation {
    Mutation(
      key: key("cities/SF"), operation: .patch(["population": value], FieldMask([FieldPath("population")])),
      precondition: .exists(true))
  }

  /// Two clients that listen to one city of population 0; bob is offline.
  private func apart(_ harness: StageHarness) async {
    harness.run("listen cities")
    harness.run("client add bob")
    harness.write("one", Mutation(key: key("cities/SF"), operation: .set(["population": 0])))
    await harness.settled("one", 0)
    await harness.settled("bob", 0)
    harness.press("o")
    await harness.until { harness.state("bob").network.isOffline }
    #expect(!harness.state("one").network.isOffline, "the plug is bob's own")
  }

  @Test(
    "If two clients write a field, one of them offline, both report it and converge",
    .timeLimit(.minutes(10)))
  func replaced() async throws {
    try await StageHarness.run { harness in
      await apart(harness)
      harness.write("one", population(1))
      await harness.settled("one", 1)
      harness.write("bob", population(2))
      await harness.until { harness.state("bob").writes.waiting == 1 }
      #expect(harness.state("one").writes.waiting == 0, "the queue is bob's own")
      #expect(harness.state("bob").document(key("cities/SF"))?.data?.fields["population"] == 2)
      #expect(harness.state("one").document(key("cities/SF"))?.data?.fields["population"] == 1)

      harness.press("o")

      await harness.until { !harness.conflicts("bob").isEmpty && !harness.conflicts("one").isEmpty }
      let (later, earlier) = (harness.conflicts("bob"), harness.conflicts("one"))
      #expect(later.count == 1 && later[0].hasPrefix("conflict: 2 replaced one's population 1, "))
      #expect(earlier.count == 1 && earlier[0].hasPrefix("conflict: bob replaced population 1 with 2, "))
      await harness.settled("one", 2)
      await harness.settled("bob", 2)
      let stored = try await harness.backend.lookup([key("cities/SF")], in: database).documents.first
      #expect(stored?.data?.fields["population"] == 2)
    }
  }

  @Test("An update of a document deleted by another client is rejected on both sides", .timeLimit(.minutes(10)))
  func refused() async throws {
    try await StageHarness.run { harness in
      await apart(harness)
      harness.write("bob", population(2))
      await harness.until { harness.state("bob").writes.waiting == 1 }
      harness.write("one", Mutation(key: key("cities/SF"), operation: .delete))
      await harness.until { harness.state("one").writes.answers.count == 2 }

      harness.press("o")

      await harness.until { !harness.conflicts("bob").isEmpty && !harness.conflicts("one").isEmpty }
      #expect(harness.conflicts("bob")[0].hasPrefix("conflict: one had deleted it; #"))
      #expect(harness.conflicts("one")[0].hasPrefix("conflict: bob's write was rejected, not-found, "))
      await harness.until { harness.state("bob").writes.rejected.count == 1 }
    }
  }

  @Test("Writes to different fields or over values that the user has seen do not conflict", .timeLimit(.minutes(10)))
  func none() async throws {
    try await StageHarness.run { harness in
      await apart(harness)
      harness.write("one", population(1))
      await harness.settled("one", 1)
      harness.write(
        "bob",
        Mutation(
          key: key("cities/SF"), operation: .patch(["mayor": "Lee"], FieldMask([FieldPath("mayor")])),
          precondition: .exists(true)))
      harness.press("o")
      await harness.settled("bob", 1)
      // What bob has seen by now may be replaced by it.
      harness.write("bob", population(3))
      await harness.settled("bob", 3)
      await harness.settled("one", 3)
      #expect(harness.conflicts("bob").isEmpty && harness.conflicts("one").isEmpty)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import ClientPort
import ClientTesting
import Dashboard
import DashboardModel
import DatastoreTapping
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting

import class Hearth.Client

@testable import CommandOutput
@testable import DashboardHost
@testable import HearthCommand

/// A bridge over a client with a backend of its own, which a test changes as another client would.
@MainActor
final class BridgeHarness {
  let backend: LocalBackend
  let bridge: ClientBridge
  private let client: Client
  private let events: AsyncStream<ScreenEvent>
  private let status: Task<Void, Never>

  private init(_ tap: MessageTap?) throws {
    let (events, continuation) = AsyncStream.makeStream(of: ScreenEvent.self)
    let faults = FaultInjector(seed: 1)
    backend = try LocalBackend(BackendConfiguration(location: .memory, now: { .now }))
    let clock = HastyClock(speed: 1)
    let datastore: any Datastore = FaultyDatastore(
      InProcessDatastore(backend: backend, database: database), faults: faults, clock: clock)
    client = Client(
      LocalStoreConfiguration(location: .memory, policy: .never, database: database),
      datastore: tap.map { TappedDatastore(datastore, of: database, tap: $0) } ?? datastore, clock: clock
    )
    let bridge = ClientBridge(client, faults: faults, dataNotice: nil, transferPlace: (database, "test")) {
      continuation.yield($0)
    }
    self.bridge = bridge
    self.events = events
    status = Task { await bridge.followStatus() }
  }

  /// - Parameter tap: sees the messages between the client and the backend.
  static func run(
    _ tap: MessageTap? = nil, _ body: @MainActor (BridgeHarness) async throws -> Void
  ) async throws {
    let harness = try BridgeHarness(tap)
    do { try await body(harness) } catch {
      await harness.close()
      throw error
    }
    await harness.close()
  }

  private func close() async {
    bridge.close()
    status.cancel()
    await client.terminate()
  }

  /// What the next event says that says something wanted; earlier ones are passed over.
  func next<Found>(_ wanted: (ClientEvent) -> Found?) async throws -> Found {
    for await case .client(let event) in events {
      if let found = wanted(event) { return found }
    }
    throw RPCStatus(.cancelled, "The events have ended.")
  }

  /// The next event of the screen's host that says something wanted.
  func nextOfHost<Found>(_ wanted: (HostEvent) -> Found?) async throws -> Found {
    for await case .host(let event) in events {
      if let found = wanted(event) { return found }
    }
    throw RPCStatus(.cancelled, "The events have ended.")
  }

  func notice(_ word: String) async throws -> String {
    try await nextOfHost { if case .notice(_, let text) = $0, text.contains(word) { text } else { nil } }
  }

  @discardableResult
  func acknowledged() async throws -> BatchID {
    try await next { if case .writeAcknowledged(let batch, _, _) = $0 { batch } else { nil } }
  }

  /// Waits until the open document is as wanted.
  @discardableResult
  func detail(where isWanted: (Document?) -> Bool) async throws -> Document? {
    try await next { event -> Document?? in
      if case .detail(_, _, _, let local, _) = event, isWanted(local) { .some(local) } else { nil }
    }
  }

  /// Waits until the client is offline, or online.
  func isOffline(_ isOffline: Bool) async throws {
    try await next { if case .status(let status) = $0, status.isOffline == isOffline { () } else { nil } }
  }

  /// What another client writes.
  func others(_ mutations: Mutation...) async throws { try await backend.commit(mutations, in: database) }

  /// Writes `mine` offline over the seen status `new` of `orders/a`, which others change to `theirs` meanwhile, and goes
  /// online.
  func conflict() async throws {
    try await others(set("orders/a", ["status": "new", "total": 1]))
    bridge.perform(.openDetail(key("orders/a")))
    try await detail { $0?.exists == true }
    bridge.perform(.setNetwork(enabled: false))
    try await isOffline(true)
    bridge.perform(.write([patch("orders/a", ["status": "mine"])]))
    try await detail { $0?.hasLocalMutations == true }
    try await others(patch("orders/a", ["status": "theirs", "total": 2]))
    bridge.perform(.setNetwork(enabled: true))
  }

  /// What the server has; `nil` for no document.
  func stored(_ path: String) async throws -> Fields? {
    try await backend.lookup([key(path)], in: database).documents.first?.data?.fields
  }
}

// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreProxy
import Synchronization

/// A proxy while a test runs, and what it tells.
final class Proxied: Sendable {
  let server: ProxyServer
  let endpoint: FirestoreGRPC.Endpoint
  let events: Events

  /// The events that the proxy has told, which can be waited for.
  final class Events: Sendable {
    private struct State {
      var events: [ProtocolEvent] = []
      var waiting: [(isWanted: @Sendable (ProtocolEvent) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var all: [ProtocolEvent] { state.withLock { $0.events } }
    var remarks: [String] { all.compactMap(\.remark) }

    func put(_ event: ProtocolEvent) {
      let ready = state.withLock { state in
        state.events.append(event)
        let ready = state.waiting.filter { $0.isWanted(event) }.map(\.continuation)
        state.waiting.removeAll { $0.isWanted(event) }
        return ready
      }
      for continuation in ready { continuation.resume() }
    }

    /// Returns when there is or was an event that is as asked.
    func wait(until isWanted: @escaping @Sendable (ProtocolEvent) -> Bool) async {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if state.events.contains(where: isWanted) { return true }
          state.waiting.append((isWanted, continuation))
          return false
        }
        if isThere { continuation.resume() }
      }
    }

    func waitForRemark(_ text: String) async { await wait { $0.remark?.contains(text) == true } }
  }

  private init(_ server: ProxyServer, _ endpoint: FirestoreGRPC.Endpoint, _ events: Events) {
    (self.server, self.endpoint, self.events) = (server, endpoint, events)
  }

  /// Runs a proxy to an address while `body` runs.
  /// - Parameters:
  ///   - faults: those at the start.
  ///   - silence: long by default, because a server that a test plays answers no pings, and a busy machine lets it wait.
  ///   - clock: the clock by which the line comes and goes.
  ///   - tell: called with each event, on the proxy's thread.
  static func run(
    to target: FirestoreGRPC.Endpoint, _ faults: [FaultChange] = [], handshake: Duration = .seconds(30),
    serverHandshake: Duration = .seconds(600), silence: Duration = .seconds(600),
    clock: any Clock<Duration> = ContinuousClock(), seed: UInt64 = 0,
    tell: @escaping @Sendable (ProtocolEvent) -> Void = { _ in },
    _ body: @escaping @Sendable (Proxied) async throws -> Void
  ) async throws {
    let events = Events()
    var configuration = ProxyServer.Configuration(host: "127.0.0.1", port: 0, target: target)
    (configuration.faults, configuration.handshake, configuration.clock) = (faults, handshake, clock)
    (configuration.serverHandshake, configuration.seed, configuration.silence) = (serverHandshake, seed, silence)
    let server = ProxyServer(configuration)
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { continuation.finish() }
        try await server.run { event in
          events.put(event)
          tell(event)
        } ready: {
          continuation.yield($0)
        }
      }
      for await port in ports {
        let endpoint = FirestoreGRPC.Endpoint(host: "127.0.0.1", port: port, security: .plaintext)
        try await body(Proxied(server, endpoint, events))
        group.cancelAll()
      }
      try await group.waitForAll()
    }
  }

  func perform(_ change: FaultChange) async throws { try await server.perform(change) }
}

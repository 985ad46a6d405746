// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreBackend
import FirestoreEmulator
import FirestoreGRPC
import Foundation

/// The server that tests of the remote backend run against: `hearth serve` in this process, on a port of the loopback
/// device; or whatever listens at `HEARTH_TEST_EMULATOR` (`HOST:PORT`), such as Google's emulator.
enum Server {
  private static let address = ProcessInfo.processInfo.environment["HEARTH_TEST_EMULATOR"]

  /// Serves while `body` runs.
  static func run(
    _ body: @escaping @Sendable (FirestoreGRPC.Endpoint) async throws -> Void
  ) async throws {
    if let address {
      return try await body(FirestoreGRPC.Endpoint(address, security: .plaintext, from: "HEARTH_TEST_EMULATOR"))
    }
    try await run(try LocalBackend.inMemory(), body)
  }

  /// Serves in this process over TLS, or without it; the endpoint is without.
  static func run(
    tls: EmulatorServer.Configuration.TLS?, host: String = "127.0.0.1",
    _ body: @escaping @Sendable (FirestoreGRPC.Endpoint) async throws -> Void
  ) async throws {
    try await run(try LocalBackend.inMemory(), host: host, tls: tls, body)
  }

  /// Serves a backend while `body` runs; no call is left when this returns.
  /// - Parameters:
  ///   - connections: how many there may be.
  ///   - clock: paces the server's heartbeats, and what it waits for when it shuts down.
  static func run(
    _ backend: LocalBackend, host: String = "127.0.0.1", port: Int = 0, tls: EmulatorServer.Configuration.TLS? = nil,
    connections: Int = 10_000,
    rules: AccessRules = AccessRules(), clock: any Clock<Duration> = ContinuousClock(),
    _ body: @escaping @Sendable (FirestoreGRPC.Endpoint) async throws -> Void
  ) async throws {
    var configuration = EmulatorServer.Configuration(
      host: host, port: port, tls: tls, maximumConnections: connections)
    configuration.rules = rules
    let server = EmulatorServer(configuration, backend: backend)
    let (ports, continuation) = AsyncStream<Int>.makeStream()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { continuation.finish() }
        try await server.run(clock: clock) { continuation.yield($0) }
      }
      for await port in ports {
        try await body(FirestoreGRPC.Endpoint(host: host, port: port, security: .plaintext))
        await server.shutDown()
      }
      try await group.waitForAll()
    }
  }
}

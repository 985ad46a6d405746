// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreBackend
package import FirestoreClientState
import FirestoreEmulator
package import FirestoreGRPC
package import FirestoreModel
import FirestoreServer
import NIOCore
import NIOPosix
import TransportSecurity

/// Forwards messages between clients of any SDK and a server of google.firestore.v1, and injects faults:
/// ```
/// client ──► SpokenProtocolHandler ──┬─ HTTP/2 ──► HTTP2Bridge ──► server     a stream for each stream
///                                    └─ HTTP/1 ──► HTTP1Bridge ──► server     REST and WebChannel
/// ```
package struct ProxyServer: Sendable {
  package struct Configuration: Sendable {
    package var host: String
    /// The port. With 0, the system chooses one.
    package var port: Int
    package var target: Endpoint
    /// The maximum size in bytes of a message whose content is reported, 64 KiB or more; 0 to report no contents.
    /// Contents above 64 KiB are reported only for listeners and writes over gRPC.
    package var contentLimit = 0
    package var seed: UInt64 = 0
    /// The times within which clients and the server must begin their protocols.
    package var (handshake, serverHandshake) = (Duration.seconds(30), Duration.seconds(30))
    /// The period without data from the server after which the proxy sends it a ping. If the server does not respond,
    /// calls fail after two to three periods.
    package var silence = Duration.seconds(13)
    /// The clock for a flapping network.
    package var clock: any Clock<Duration> = ContinuousClock()
    /// The faults at the start.
    package var faults: [FaultChange] = []
    package init(host: String, port: Int, target: Endpoint) {
      (self.host, self.port, self.target) = (host, port, target)
    }
  }

  private let configuration: Configuration
  private let loop = ServerThread.loop
  private let core: NIOLoopBoundBox<ProxyCore?>
  private let faults: FaultInjector

  package init(_ configuration: Configuration) {
    self.configuration = configuration
    let (loop, core) = (loop, NIOLoopBoundBox<ProxyCore?>.makeEmptyBox(valueType: ProxyCore.self, eventLoop: loop))
    self.core = core
    faults = FaultInjector(seed: configuration.seed, clock: configuration.clock) { lanes, status in
      loop.execute { core.value?.interrupt(lanes, with: status) }
    }
  }

  /// The current fault settings.
  package var settings: FaultSettings { faults.settings }
  /// The one-time faults that have not happened yet.
  package var waitingFaults: [FaultEvent] { faults.waiting }
  /// Yields a value after each change of the settings or of the waiting faults.
  package func faultChanges() -> AsyncStream<Void> { faults.changes() }

  /// Serves until canceled. Call it once.
  /// - Parameters:
  ///   - report: receives events, on the proxy's thread; `nil` to report none.
  ///   - ready: called with the bound port once connections are accepted.
  /// - Throws: `RPCStatus` with the reason why the proxy cannot listen on the address or trust a certificate.
  package func run(
    report: (@Sendable (ProtocolEvent) -> Void)? = nil, ready: @Sendable (Int) -> Void
  ) async throws {
    let tls = try tls()
    let (loop, faults, configuration) = (loop, faults, configuration)
    try await loop.submit {
      core.value = ProxyCore(
        on: loop, to: configuration.target, tls, faults,
        handshake: (TimeAmount(configuration.handshake), TimeAmount(configuration.serverHandshake)),
        silence: TimeAmount(configuration.silence), contentLimit: configuration.contentLimit, report)
    }.get()
    for change in configuration.faults { try await perform(change) }
    let port = EmulatorServer.Configuration(host: configuration.host, port: configuration.port)
    let listener = try await port.listen(on: loop) { [core] channel in
      channel.eventLoop.makeCompletedFuture {
        guard let core = core.value, !core.refusesConnections else { return channel.close(promise: nil) }
        let spoken = SpokenProtocolHandler(
          handshake: core.handshake.client, silent: { core.tellSilentClient() },
          http1: { channel in
            try channel.pipeline.syncOperations.addHandler(ReadFlushHandler(), position: .first)
            try HTTP1Bridge(core).begin(on: channel)
          },
          http2: { channel in try HTTP2Bridge(core).begin(on: channel) })
        try channel.pipeline.syncOperations.addHandler(spoken)
      }
    }
    ready(listener.localAddress?.port ?? configuration.port)
    // This waits until the task is canceled.
    let (never, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in never {}
    continuation.finish()
    // Closing fails if the system has already closed it.
    try? await listener.close()
    try await loop.submit {
      core.value?.closeAll()
      core.value = nil
    }.get()
  }

  package func perform(_ change: FaultChange) async throws(RPCStatus) {
    let result = try? await loop.submit { [core] () -> Result<Void, RPCStatus> in
      do throws(RPCStatus) {
        try core.value?.perform(change)
        return .success(())
      } catch { return .failure(error) }
    }.get()
    try result?.get()
  }

  /// Replaces the fault settings. Calm settings also cancel the injected faults that have not happened yet.
  package func apply(_ settings: FaultSettings) async {
    // There is nothing to change after the loop has ended.
    try? await loop.submit { [core] in core.value?.apply(settings) }.get()
  }

  private func tls() throws(RPCStatus) -> TLSContext? {
    guard case .tls(let roots) = configuration.target.security else { return nil }
    do throws(TLSFailure) { return try TLSContext(trustRoots: roots, http2: true) } catch {
      throw RPCStatus(.failedPrecondition, "\(roots ?? "The system's certificates") cannot be trusted: \(error).")
    }
  }
}

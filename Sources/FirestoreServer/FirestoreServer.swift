// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
import FirestoreModel
import FirestoreService
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Glibc
import NIOCore
import NIOPosix

/// Serves the embedded backend on a port: google.firestore.v1 over gRPC, and a few plain HTTP requests.
package struct FirestoreServer: Sendable {
  package struct Configuration: Sendable {
    package struct TLS: Sendable {
      /// Paths of PEM files.
      package var certificate: String
      package var key: String

      package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
      }
    }

    package var host: String
    /// 0 lets the system choose.
    package var port: Int
    package var tls: TLS?

    package init(host: String = "127.0.0.1", port: Int, tls: TLS? = nil) {
      self.host = host
      self.port = port
      self.tls = tls
    }
  }

  /// Clients that hear nothing for two minutes give a stream up (PROTOCOL §2.7).
  private static let heartbeatInterval = Duration.seconds(30)
  /// Commits of 10 MiB are legal; the rest is room for what frames them.
  private static let maximumRequestBytes = 12 << 20
  /// Simultaneous calls of one connection.
  private static let maximumStreams = 8_192
  /// How long calls may take to end when the server shuts down.
  private static let grace = Duration.milliseconds(200)
  /// One thread for all connections, and for what calls do. It lives as long as the process.
  private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  /// The thread of all connections. A backend that runs on it too answers without a change of thread, which is most of
  /// what a small call costs otherwise; while it reads or writes, connections wait.
  package static var executor: any SerialExecutor { loops.next().executor }

  private let configuration: Configuration
  private let backend: LocalBackend
  private let server: GRPCServer<HTTP2ServerTransport.Posix>
  private let stops: AsyncStream<Void>
  private let stop: AsyncStream<Void>.Continuation

  /// - Parameter backend: runs on `executor`.
  package init(_ configuration: Configuration, backend: LocalBackend) {
    precondition(backend.executor === Self.executor, "The backend does not run on the server's executor.")
    self.configuration = configuration
    self.backend = backend
    (stops, stop) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let service = FirestoreService(backend: backend)
    server = GRPCServer(
      transport: HTTP2ServerTransport.Posix(
        address: configuration.socketAddress, transportSecurity: configuration.security,
        config: Self.transportConfiguration(service), eventLoopGroup: Self.loops),
      services: [FirestoreGRPCService(service)])
  }

  /// Serves until `shutDown` or cancellation. Once.
  /// - Parameters:
  ///   - clock: paces heartbeats, and the wait for calls that are to end.
  ///   - ready: called with the bound port once connections are accepted.
  /// - Throws: `RPCStatus` that says why the address cannot be listened on, or `CancellationError`.
  package func run(clock: any Clock<Duration> = ContinuousClock(), ready: @Sendable (Int) -> Void) async throws {
    let result = await Result { try await serve(clock, ready) }
    if Task.isCancelled { throw CancellationError() }
    try result.get()
  }

  private func serve(_ clock: any Clock<Duration>, _ ready: @Sendable (Int) -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await withTaskExecutorPreference(EventLoopExecutor(Self.loops.next())) { try await server.serve() }
      }
      group.addTask { try await beat(clock) }
      group.addTask {
        for await _ in stops {
          // Calls that have not ended when this task has are cut off.
          return try await clock.sleep(for: Self.grace)
        }
      }
      do {
        let address = try await server.transport.listeningAddress
        ready(address.ipv4?.port ?? address.ipv6?.port ?? configuration.port)
        _ = try await group.next()
        group.cancelAll()
      } catch {
        group.cancelAll()
        // The transport only says that it is not listening; the reason comes from serving.
        var reason: any Error = error
        while let result = await group.nextResult() {
          if case .failure(let failure) = result, !(failure is CancellationError) { reason = failure }
        }
        throw configuration.explain(reason)
      }
      // Whatever calls that were cut off end with.
      while await group.nextResult() != nil {}
    }
  }

  /// Lets calls finish and ends streams, so that `run` returns; what goes on for longer than a moment is cut off.
  package func shutDown() async {
    server.beginGracefulShutdown()
    await backend.endWatches(RPCStatus(.unavailable, "The server is shutting down."))
    stop.yield()
  }

  private func beat(_ clock: any Clock<Duration>) async throws {
    while true {
      try await clock.sleep(for: Self.heartbeatInterval)
      await backend.heartbeat()
    }
  }

  private static func transportConfiguration(_ service: FirestoreService) -> HTTP2ServerTransport.Posix.Config {
    let turn = DeliveryTurn(loops.next())
    return .defaults { config in
      config.rpc.maxRequestPayloadSize = maximumRequestBytes
      config.http2.maxConcurrentStreams = maximumStreams
      config.http2.targetWindowSize = 1 << 20
      // `TurnFlushHandler` does it without delay.
      config.connection.flushCoalescing = nil
      // SDKs ping every 30 s, with or without calls, and gRPC's core several times a second to measure bandwidth: a
      // minimum would have their connections closed in the middle of calls.
      config.connection.keepalive.clientBehavior.minPingIntervalWithoutCalls = .zero
      config.connection.keepalive.clientBehavior.allowWithoutCalls = true
      config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            CallHandler(service, turn, maximumRequestBytes: maximumRequestBytes), position: .first)
        }
      }
      config.channelDebuggingCallbacks.onAcceptTCPConnection = { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            TurnFlushHandler(), PlainHTTPHandler(service), position: .first)
        }
      }
    }
  }
}

extension FirestoreServer.Configuration {
  fileprivate var socketAddress: GRPCNIOTransportCore.SocketAddress {
    if host.contains(":") { return .ipv6(host: host, port: port) }
    return .ipv4(host: host == "localhost" ? "127.0.0.1" : host, port: port)
  }

  fileprivate var security: HTTP2ServerTransport.Posix.TransportSecurity {
    guard let tls else { return .plaintext }
    return .tls(
      certificateChain: [.file(path: tls.certificate, format: .pem)],
      privateKey: .file(path: tls.key, format: .pem))
  }

  fileprivate func explain(_ error: any Error) -> any Error {
    if error is RPCStatus || error is CancellationError { return error }
    var cause = error
    if let error = error as? RuntimeError, let inner = error.cause { cause = inner }
    guard let failure = cause as? IOError else {
      if tls != nil {
        return RPCStatus(.failedPrecondition, "The TLS certificate or key cannot be used: \(cause).")
      }
      return RPCStatus(.unavailable, "\(host):\(port) cannot be listened on: \(cause).")
    }
    switch failure.errnoCode {
    case EADDRINUSE:
      return RPCStatus(
        .failedPrecondition, "Port \(port) of \(host) is in use. End what listens there, or choose another --port.")
    case EACCES:
      return RPCStatus(.permissionDenied, "Port \(port) may not be listened on. Choose one above 1023.")
    case EADDRNOTAVAIL:
      return RPCStatus(.invalidArgument, "\(host) is not an address of this machine.")
    default: return RPCStatus(.unavailable, "\(host):\(port) cannot be listened on: \(failure).")
    }
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

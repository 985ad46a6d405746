// SPDX-License-Identifier: Apache-2.0
package import FirestoreAccess
package import FirestoreBackend
import FirestoreModel
package import FirestoreProtocol
package import FirestoreServer
package import FirestoreService
import Glibc
package import NIOCore
import NIOPosix
import TransportSecurity

/// Serves the embedded backend on a port: google.firestore.v1 over gRPC, REST and WebChannel, and emulator control.
package struct EmulatorServer: Sendable {
  package struct Configuration: Sendable {
    package struct TLS: Sendable {
      /// The paths of PEM files.
      package var certificate: String
      package var key: String

      package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
      }
    }

    package var host: String
    /// The port. With 0, the system chooses one.
    package var port: Int
    package var tls: TLS?
    /// The maximum number of connections, reduced if the process may not open that many files.
    package var maximumConnections: Int
    /// Security rules; without them every caller is an administrator.
    package var rules = AccessRules()
    /// Composite indexes. By default, every index that a query needs counts as existing.
    package var indexes = ServedIndexes()
    /// The mode of transactions whose requests do not specify one.
    package var concurrency = ConcurrencyMode.optimistic
    /// The allowed origins, in the format of the header `Origin`. Pages on other hosts may use the data only if their
    /// origin is allowed.
    package var allowedOrigins: Set<String> = []
    /// Receives messages for the user who serves the data, for example about a rejected page, or a page that blocks
    /// itself with too many streams.
    package var report: (@Sendable (String) -> Void)?
    /// Whether requests must not clear the data (`POST /reset`, `DELETE …/documents`).
    package var protectsData = false
    /// Receives each request that has ended, on the connections' thread.
    package var log: RequestLog?
    /// The action of `POST /shutdown`; `nil` if it must not end the server.
    package var stop: (@Sendable () -> Void)?
    /// Keeps the port open for the next server with this configuration.
    package var kept: ListeningPort?

    package init(
      host: String = "127.0.0.1", port: Int, tls: TLS? = nil, maximumConnections: Int = usualMaximumConnections
    ) {
      self.host = host
      self.port = port
      self.tls = tls
      self.maximumConnections = maximumConnections
    }

    package static let usualMaximumConnections = 10_000

    /// The number of file descriptors reserved for other uses than connections.
    private static let reservedFiles = 64

    /// The maximum number of connections, which leaves some file descriptors unused. Without an unused descriptor,
    /// accepting a connection would fail in a busy loop.
    var connections: Int {
      var files = rlimit()
      guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return maximumConnections }
      return max(1, min(maximumConnections, Int(clamping: files.rlim_cur) - Self.reservedFiles))
    }
  }

  /// The interval of heartbeats. Clients close a stream after two minutes without data (PROTOCOL §2.7).
  private static let heartbeatInterval = Duration.seconds(30)
  /// The time that calls have to end when the server shuts down.
  private static let grace = Duration.milliseconds(200)

  private let configuration: Configuration
  private let backend: LocalBackend
  private let connections: ServedConnections
  private let stops: AsyncStream<Void>
  private let stop: AsyncStream<Void>.Continuation

  /// - Parameter backend: runs on `ServerThread.executor`.
  package init(_ configuration: Configuration, backend: LocalBackend) {
    precondition(backend.executor === ServerThread.executor, "The backend does not run on the server's executor.")
    self.configuration = configuration
    self.backend = backend
    connections = ServedConnections(on: ServerThread.loop, limit: configuration.connections)
    (stops, stop) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Serves until `shutDown` or cancellation. Call it once.
  /// - Parameters:
  ///   - clock: measures the heartbeat interval and the grace period.
  ///   - ready: called with the bound port once connections are accepted.
  /// - Throws: `RPCStatus` with the reason why the server cannot listen on the address, or `CancellationError`.
  package func run(clock: any Clock<Duration> = ContinuousClock(), ready: @Sendable (Int) -> Void) async throws {
    let (listeners, pipeline) = try await bind()
    let result = await Result {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await beat(clock) }
        group.addTask { for await _ in stops { return } }
        ready(listeners.first?.localAddress?.port ?? configuration.port)
        defer { group.cancelAll() }
        try await group.next()
        try await drain(clock)
      }
    }
    // Closing fails if the system has already closed it.
    for listener in listeners { try? await listener.close() }
    // This closes the connections that have not ended by now.
    await connections.close()
    try? await ServerThread.loop.submit { pipeline.close() }.get()
    if Task.isCancelled { throw CancellationError() }
    try result.get()
  }

  /// Ends streams and lets calls finish within the grace period, so that `run` returns. Longer calls are canceled.
  package func shutDown() async {
    await connections.quiesce()
    await backend.endWatches(GRPCFraming.isShuttingDown)
    stop.yield()
  }

  /// Waits until the connections have ended, or the grace period is over.
  private func drain(_ clock: any Clock<Duration>) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await connections.ended() }
      group.addTask { try await clock.sleep(for: Self.grace) }
      try await group.next()
      await connections.close()
      group.cancelAll()
    }
  }

  private func beat(_ clock: any Clock<Duration>) async throws {
    while true {
      try await clock.sleep(for: Self.heartbeatInterval)
      await backend.heartbeat()
    }
  }

  private func bind() async throws -> (listeners: [any Channel], PortPipeline) {
    do {
      let loop = ServerThread.loop
      let pipeline = PortPipeline(
        FirestoreService(
          backend: backend, rules: configuration.rules, indexes: configuration.indexes,
          concurrency: configuration.concurrency),
        DeliverySlice(loop), try configuration.tls?.context(),
        isLoopback: try configuration.isLoopback, allowed: configuration.allowedOrigins,
        protectsData: configuration.protectsData, stop: configuration.stop, report: configuration.report,
        log: configuration.log, on: loop)
      let connections = connections
      let listeners = try await configuration.listenEverywhere(on: loop) { channel in
        channel.eventLoop.makeCompletedFuture {
          guard let number = connections.add(channel) else { return try pipeline.refuse(channel) }
          try pipeline.configure(channel) { connections.hear(number) }
        }
      }
      for listener in listeners { await connections.accept(from: listener) }
      return (listeners, pipeline)
    } catch { throw configuration.explain(error) }
  }
}

extension EmulatorServer.Configuration.TLS {
  func context() throws(RPCStatus) -> TLSContext {
    do throws(TLSFailure) { return try TLSContext(certificate: certificate, key: key) } catch {
      let complaint =
        switch error {
        case .unreadableCertificate(let file): "\(file) is not a certificate in PEM."
        case .unreadableKey(let file): "\(file) is not an unencrypted private key in PEM."
        case .mismatch: "\(certificate) and \(key) cannot be used together: the key belongs to another certificate."
        default: "\(certificate) and \(key) cannot be used: \(error)."
        }
      throw RPCStatus(.failedPrecondition, complaint)
    }
  }
}

extension EmulatorServer.Configuration {
  /// Whether the port is reachable only from this machine.
  /// - Throws: an error if the host is unknown.
  package var isLoopback: Bool {
    get throws {
      let address = try SocketAddress.makeAddressResolvingHost(host, port: port).ipAddress
      return address.map { $0.hasPrefix("127.") || $0 == "::1" } ?? false
    }
  }

  /// Accepts connections on the address.
  /// - Throws: `RPCStatus` with the reason why the server cannot listen on the address.
  package func listen(
    on loop: any EventLoop, _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) async throws -> any Channel {
    do {
      let bootstrap = ServerBootstrap(group: loop)
        .serverChannelOption(.backlog, value: 1_024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        // Reads at most 64 KiB per turn, so that a client with thousands of small requests leaves time for others.
        .childChannelOption(.maxMessagesPerRead, value: 1)
        // Keepalive detects clients that disappeared.
        .childChannelOption(.socketOption(.so_keepalive), value: 1)
        .childChannelInitializer(initialize)
      if let next = kept?.next(host) { return try await bootstrap.withBoundSocket(next).get() }
      let listener = try await bootstrap.bind(host: host, port: port).get()
      try await kept?.keep(listener, host).get()
      return listener
    } catch { throw explain(error) }
  }

  /// Accepts connections on the address. For `localhost` it uses both 127.0.0.1 and ::1, because some clients first try
  /// only one of them.
  /// - Returns: the listening channels; only one on a machine without IPv6.
  /// - Throws: as `listen` does.
  func listenEverywhere(
    on loop: any EventLoop, _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) async throws -> [any Channel] {
    guard host.lowercased() == "localhost" else { return [try await listen(on: loop, initialize)] }
    var (four, six) = (self, self)
    (four.host, six.host) = ("127.0.0.1", "::1")
    let first = try await four.listen(on: loop, initialize)
    six.port = first.localAddress?.port ?? port
    do {
      return [first, try await six.listen(on: loop, initialize)]
    } catch let error as RPCStatus where error.code == .failedPrecondition {
      // Another program uses the port on the other address. Some clients would reach that program.
      try? await first.close()
      throw error
    } catch { return [first] }
  }

  func explain(_ error: any Error) -> RPCStatus {
    switch error {
    case let status as RPCStatus: return status
    case is SocketAddressError, is SocketAddressError.UnknownHost:
      return RPCStatus(.invalidArgument, "\(host) is not a known host name or address.")
    default: break
    }
    switch (error as? IOError)?.errnoCode {
    case EADDRINUSE:
      return RPCStatus(
        .failedPrecondition, "Port \(port) of \(host) is in use. End its program, or choose another --port.")
    case EACCES:
      return RPCStatus(.permissionDenied, "This user may not listen on port \(port). Choose a port above 1023.")
    case EADDRNOTAVAIL:
      return RPCStatus(.invalidArgument, "\(host) is not an address of this machine.")
    default: return RPCStatus(.unavailable, "Cannot listen on \(host):\(port): \(error).")
    }
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import Synchronization

/// The HTTP/2 connection to one endpoint, made when it is first needed.
///
/// After a failure the next call gets a fresh one at once: how long to wait between attempts is the client's backoff to
/// say (`ClientStream`), and the transport's own would only add to it.
final class Connection: Sendable {
  typealias Client = GRPCClient<HTTP2ClientTransport.Posix>

  /// How a broken line is noticed while nothing is sent.
  struct Keepalive: Hashable, Sendable {
    /// Silence after which the peer is asked for a sign of life. Backends refuse less than 30 s.
    var time = Duration.seconds(30)
    /// How long the peer may take to give it, or to say anything when a connection is new.
    var timeout = Duration.seconds(10)
  }

  let endpoint: Endpoint
  private let keepalive: Keepalive
  private let tasks = ConnectionTasks()
  private let current = Mutex<Client?>(nil)

  init(to endpoint: Endpoint, keepalive: Keepalive = Keepalive()) {
    self.endpoint = endpoint
    self.keepalive = keepalive
  }

  deinit { tasks.cancel() }

  /// - Throws: `invalid-argument` for an endpoint that cannot be connected to, such as trust roots that cannot be read.
  func client() throws(RPCStatus) -> Client {
    let client = current.withLock { current -> Result<Client, RPCStatus> in
      if let current { return .success(current) }
      do {
        let client = try makeClient()
        current = client
        tasks.run(client)
        return .success(client)
      } catch {
        return .failure(RPCStatus(.invalidArgument, endpoint.complaint(about: error)))
      }
    }
    return try client.get()
  }

  /// Lets a connection go that failed; its other calls end as they will.
  func retire(_ client: Client) {
    let isCurrent = current.withLock { current in
      guard current === client else { return false }
      current = nil
      return true
    }
    if isCurrent { client.beginGracefulShutdown() }
  }

  /// As `retire` for the connection that there is.
  func retireCurrent() {
    if let client = current.withLock({ $0 }) { retire(client) }
  }

  /// Ends all calls and waits until the connections are closed.
  func close() async {
    current.withLock { $0 = nil }
    await tasks.cancelAndWait()
  }

  private func makeClient() throws -> Client {
    let target: any ResolvableTarget =
      if let socket = endpoint.socket {
        .unixDomainSocket(path: socket, authority: "localhost")
      } else if endpoint.host.contains(":") {
        .ipv6(address: endpoint.host, port: endpoint.port)
      } else if endpoint.isIPv4 {
        .ipv4(address: endpoint.host, port: endpoint.port)
      } else {
        .dns(host: endpoint.host, port: endpoint.port)
      }
    let transport = try HTTP2ClientTransport.Posix(
      target: target, transportSecurity: endpoint.transportSecurity,
      config: .defaults { config in
        config.connection.maxIdleTime = .seconds(60)
        // The transport repeats its question before a longer timeout is over, which starts that anew; and once it has
        // stopped asking for want of calls, it does not begin again with the next one.
        config.connection.keepalive = .init(
          time: keepalive.time, timeout: min(keepalive.timeout, keepalive.time), allowWithoutCalls: true)
        config.connection.flushCoalescing = nil
        config.backoff.initial = .milliseconds(500)
        config.backoff.max = .seconds(2)
        let timeout = keepalive.timeout
        config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(FirstAnswerHandler(timeout: timeout), position: .first)
          }
        }
      })
    return GRPCClient(transport: transport)
  }
}

/// The tasks that run the connections of one `Connection`, including those that only wait for their last call.
private final class ConnectionTasks: Sendable {
  private let running = Mutex<[ObjectIdentifier: Task<Void, Never>]>([:])

  func run(_ client: Connection.Client) {
    let id = ObjectIdentifier(client)
    running.withLock { running in
      running[id] = Task {
        // What is wrong with a connection is said by the calls on it.
        try? await client.runConnections()
        self.running.withLock { $0[id] = nil }
      }
    }
  }

  func cancel() { for task in running.withLock({ $0.values }) { task.cancel() } }

  func cancelAndWait() async {
    let tasks = running.withLock { Array($0.values) }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}

extension Endpoint {
  /// Why no connection can be set up, before anything was sent.
  fileprivate func complaint(about error: any Error) -> String {
    if case .tls(let roots?) = security {
      return "The certificates to trust in \(roots) cannot be read. Check --trust: a file with certificates as PEM."
    }
    return "No connection to \(text) can be set up: \(CallFailure.reason(error))"
  }

  fileprivate var isIPv4: Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }

  fileprivate var transportSecurity: HTTP2ClientTransport.Posix.TransportSecurity {
    switch security {
    case .plaintext: .plaintext
    case .tls(let trustRoots):
      .tls { config in
        if let trustRoots {
          config.trustRoots = .certificates([.file(path: trustRoots, format: .pem)])
        }
      }
    }
  }
}

/// Closes a connection on which the peer says nothing at all. A connection may be accepted by what is in front of a
/// dead server; the transport's keepalive only begins with the peer's first words.
final class FirstAnswerHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private let timeout: TimeAmount
  private var timer: Scheduled<Void>?

  init(timeout: Duration) { self.timeout = TimeAmount(timeout) }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    timer = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    timer?.cancel()
    timer = nil
    context.fireChannelRead(data)
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }
}

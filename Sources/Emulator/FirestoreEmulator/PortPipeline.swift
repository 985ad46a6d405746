// SPDX-License-Identifier: Apache-2.0
import CAllocator
import FirestoreServer
import FirestoreService
import Glibc
import HTTP2Frames
package import NIOCore
import NIOHTTP1
import Synchronization
import TransportSecurity

/// The handlers of a connection to a port:
/// ```
/// bytes ─► (TLS) ─► SpokenProtocolHandler, which is replaced by:
///
/// HTTP/2                ─► CallPipeline: gRPC; EmulatorCalls adds REST, WebChannel and EmulatorCall
///
/// HTTP/1                ─► ReadFlushHandler ─► HTTPResponseEncoder, HTTPRequestDecoder
/// parts of requests     ─► HTTPRequestHandler
/// ```
struct PortPipeline: Sendable {
  private let tls: TLSContext?
  private let calls: CallPipeline
  private let origins: ControlOrigins
  private let channels: WebChannels
  private let log: RequestLog?

  /// - Parameters:
  ///   - isLoopback: whether the port is reachable only from this machine.
  ///   - allowed: the origins, on any host, whose pages may use the data.
  ///   - protectsData: whether requests must not clear the data.
  ///   - stop: ends the server; `nil` if requests may not end it.
  ///   - report: receives messages for the user who serves the data.
  ///   - log: receives each request that has ended.
  init(
    _ service: FirestoreService, _ turn: DeliverySlice, _ tls: TLSContext?, isLoopback: Bool,
    allowed: Set<String> = [], protectsData: Bool = false, stop: (@Sendable () -> Void)? = nil,
    report: (@Sendable (String) -> Void)? = nil, log: RequestLog? = nil, on loop: any EventLoop
  ) {
    (self.tls, self.log) = (tls, log)
    // Only the `hearth` process serves ports, so trimming affects no other program. After a flood, freed memory that
    // the allocator retains is most of the process's memory.
    let budget = ServerBudget(on: loop, limit: ConnectionLimits.totalBytes) { malloc_trim(0) }
    origins = ControlOrigins(
      isLoopback: isLoopback, allowed: allowed, protectsData: protectsData, stop: stop, report: report)
    // Browsers use HTTP/2 over TLS, which does not limit the number of channels.
    channels = WebChannels(
      service, turn, budget, isLoopback ? .loopback : .network, on: loop, report: tls == nil ? report : nil)
    calls = CallPipeline(
      service, turn, isLoopback ? .loopback : .network, budget, EmulatorCalls(origins, channels, log), log: log)
  }

  /// Ends the WebChannel sessions, which can outlast their connections. Afterwards the sessions no longer retain the
  /// backend. Call it on the connections' thread.
  func close() { channels.close() }

  /// Ends a connection above the limit.
  func refuse(_ channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(tls.serverHandler()) }
    try pipeline.addHandler(ConnectionRefusalHandler())
  }

  /// - Parameter heard: called when the client's protocol is known.
  func configure(_ channel: any Channel, heard: @escaping () -> Void = {}) throws {
    let connection = calls.connection(on: channel.eventLoop)
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(tls.serverHandler()) }
    let handshake = calls.limits.handshake
    let spoken = SpokenProtocolHandler(
      handshake: handshake, heard: heard,
      http1: { [origins, channels, log] channel in
        try channel.pipeline.syncOperations.addHandler(ReadFlushHandler())
        try Self.addHTTP1(
          to: channel, connection.service, origins, channels, connection.budget, handshake: handshake, log: log)
      },
      http2: { [calls] channel in try calls.configure(channel, connection) })
    try pipeline.addHandler(spoken)
  }

  /// - Parameter handshake: the time that a client has to send something while the server waits for it.
  static func addHTTP1(
    to channel: any Channel, _ service: FirestoreService, _ origins: ControlOrigins, _ channels: WebChannels,
    _ budget: ConnectionBudget, handshake: TimeAmount, log: RequestLog? = nil
  ) throws {
    var heads = NIOHTTPDecoderLimitConfiguration()
    (heads.maxHeaderFieldSize, heads.maxHeaderListSize) = (ConnectionLimits.headBytes, ConnectionLimits.headBytes)
    let received = ReceivedBytesHandler()
    try channel.pipeline.syncOperations.addHandlers(
      HTTPResponseEncoder(), received, ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: heads)),
      HTTPRequestHandler(
        HTTPExchange(service, origins, channels, .whole(budget, patience: handshake, received), log: log),
        on: channel.eventLoop))
  }
}

/// Distinguishes HTTP/1 from HTTP/2, which gRPC uses, by the first bytes of a connection: HTTP/2 begins with a preface.
/// The protocol's handlers then replace this handler. A silent client is closed after a short time.
///
/// ```
/// connection ──► SpokenProtocolHandler ──┬─ the preface ──────► HTTP/2 … gRPC
///                                        └─ any other bytes ──► HTTP/1 … REST, control
/// ```
package final class SpokenProtocolHandler: ChannelInboundHandler, RemovableChannelHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer

  /// Adds the handlers of a protocol at the end of a connection's pipeline.
  package typealias Configure = (any Channel) throws -> Void

  private let handshake: TimeAmount
  private let silent: () -> Void
  private let http1: Configure
  private let http2: Configure
  private let heard: () -> Void
  private var deadline: Scheduled<Void>?
  /// The first bytes. All bytes so far match the preface.
  private var received = ByteBuffer()
  private var isDecided = false

  /// - Parameters:
  ///   - handshake: the time that a client has to begin its protocol.
  ///   - silent: called after that time, before the connection is closed.
  ///   - heard: called when the protocol is known.
  package init(
    handshake: TimeAmount, silent: @escaping () -> Void = {}, heard: @escaping () -> Void = {},
    http1: @escaping Configure, http2: @escaping Configure
  ) {
    (self.handshake, self.silent) = (handshake, silent)
    self.heard = heard
    self.http1 = http1
    self.http2 = http2
  }

  package func handlerAdded(context: ChannelHandlerContext) {
    let (channel, silent) = (context.channel, silent)
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: handshake) {
      silent()
      channel.close(promise: nil)
    }
  }

  package func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDecided { return context.fireChannelRead(data) }
    var bytes = unwrapInboundIn(data)
    received.writeBuffer(&bytes)
    let common = zip(received.readableBytesView, FrameReader.preface).prefix { $0 == $1 }.count
    if common == FrameReader.preface.count {
      goOn(context, http2)
    } else if common < received.readableBytes {
      goOn(context, http1)
    }
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // No handler follows that could notify the client of the shutdown.
    if !isDecided, event is ChannelShouldQuiesceEvent { return context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  private func goOn(_ context: ChannelHandlerContext, _ configure: Configure) {
    isDecided = true
    deadline?.cancel()
    heard()
    do { try configure(context.channel) } catch { return context.close(promise: nil) }
    context.fireChannelRead(wrapInboundOut(received))
    received = ByteBuffer()
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }
}

/// A listening port that remains open between two servers. Connections wait until the next server accepts them.
package final class ListeningPort: Sendable {
  /// A duplicate of the socket's descriptor for each address.
  private let descriptors = Mutex<[String: CInt]>([:])

  package init() {}

  deinit { letGo() }

  /// Closes the duplicates, so that the port closes with the current server.
  package func letGo() {
    descriptors.withLock { descriptors in
      for descriptor in descriptors.values { close(descriptor) }
      descriptors = [:]
    }
  }

  /// A descriptor for the next server on an address; that server must close it. `nil` if there is no descriptor.
  func next(_ address: String) -> CInt? {
    descriptors.withLock { descriptors in
      let next = descriptors[address].map { fcntl($0, F_DUPFD_CLOEXEC, 0) } ?? -1
      return next >= 0 ? next : nil
    }
  }

  /// Keeps the socket of a listening channel, unless the address already has one.
  func keep(_ listener: any Channel, _ address: String) -> EventLoopFuture<Void> {
    listener.eventLoop.submit {
      try listener.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { handle in
        self.descriptors.withLock { kept in
          let copy = kept[address] == nil ? fcntl(handle, F_DUPFD_CLOEXEC, 0) : -1
          if copy >= 0 { kept[address] = copy }
        }
      }
    }
  }
}

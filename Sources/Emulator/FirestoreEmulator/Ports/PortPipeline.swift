// SPDX-License-Identifier: Apache-2.0
import CAllocator
import FirestoreServer
import FirestoreService
import NIOCore
import NIOHTTP1
import TransportSecurity

/// The handlers of a connection to a port:
/// ```
/// bytes ─► (TLS) ─► SpokenProtocolHandler, and in its place:
///
/// HTTP/2                ─► CallPipeline: gRPC, and by EmulatorCalls REST, WebChannel and EmulatorCall
///
/// HTTP/1                ─► TurnFlushHandler ─► HTTPResponseEncoder, HTTPRequestDecoder
/// parts of requests     ─► HTTPRequestHandler
/// ```
struct PortPipeline: Sendable {
  private let tls: TLSContext?
  private let calls: CallPipeline
  private let origins: ControlOrigins
  private let channels: WebChannels

  /// - Parameters:
  ///   - isLoopback: whether only this machine reaches the port.
  ///   - allowed: pages of any host that may use the data.
  ///   - stop: ends the server; `nil` if no request may ask for that.
  ///   - report: takes news for the user who serves the data.
  init(
    _ service: FirestoreService, _ turn: DeliveryTurn, _ tls: TLSContext?, isLoopback: Bool,
    allowed: Set<String> = [], stop: (@Sendable () -> Void)? = nil, report: (@Sendable (String) -> Void)? = nil,
    on loop: any EventLoop
  ) {
    self.tls = tls
    // Only `hearth` has ports, and its process is its own. The allocator keeps freed memory in pieces; after a flood these
    // are most of the process.
    let budget = ServerBudget(on: loop, limit: ConnectionLimits.totalBytes) { malloc_trim(0) }
    origins = ControlOrigins(isLoopback: isLoopback, allowed: allowed, stop: stop, report: report)
    // Browsers speak HTTP/2 over TLS, and have as many channels as they like.
    channels = WebChannels(
      service, turn, budget, isLoopback ? .loopback : .network, on: loop, report: tls == nil ? report : nil)
    calls = CallPipeline(
      service, turn, isLoopback ? .loopback : .network, budget, EmulatorCalls(origins, channels))
  }

  /// Ends the sessions, which outlive connections, and lets the backend go with them. To be called on the connections'
  /// thread.
  func close() { channels.close() }

  /// Ends a connection that is one too many.
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
      http1: { [origins, channels] channel in
        try channel.pipeline.syncOperations.addHandler(TurnFlushHandler())
        try Self.addHTTP1(
          to: channel, connection.service, origins, channels, connection.budget, handshake: handshake)
      },
      http2: { [calls] channel in try calls.configure(channel, connection) })
    try pipeline.addHandler(spoken)
  }

  /// - Parameter handshake: the time for which a client may send nothing while the server waits for it.
  static func addHTTP1(
    to channel: any Channel, _ service: FirestoreService, _ origins: ControlOrigins, _ channels: WebChannels,
    _ budget: ConnectionBudget, handshake: TimeAmount
  ) throws {
    var heads = NIOHTTPDecoderLimitConfiguration()
    (heads.maxHeaderFieldSize, heads.maxHeaderListSize) = (ConnectionLimits.headBytes, ConnectionLimits.headBytes)
    let received = ReceivedBytesHandler()
    try channel.pipeline.syncOperations.addHandlers(
      HTTPResponseEncoder(), received, ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: heads)),
      HTTPRequestHandler(
        HTTPExchange(service, origins, channels, .whole(budget, patience: handshake, received)), on: channel.eventLoop))
  }
}

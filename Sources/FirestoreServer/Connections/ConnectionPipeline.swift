// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreService
import NIOCore
import NIOHTTP1
import NIOHTTP2
import TransportSecurity

/// What a connection goes through:
/// ```
/// bytes ─► (TLS) ─► TurnFlushHandler ─► SpokenProtocolHandler, and in its place:
///
/// HTTP/2                ─► NIOHTTP2Handler
/// frames                ─► ConnectionEndHandler ─► BudgetHandler ─► PromptCallHandler ─► HTTP2StreamMultiplexer
/// a channel per call    ─► ResponseEndHandler ─► CallHandler
///
/// HTTP/1                ─► HTTPResponseEncoder, HTTPRequestDecoder
/// parts of requests     ─► HTTPRequestHandler
/// ```
struct ConnectionPipeline: Sendable {
  private let service: FirestoreService
  private let turn: DeliveryTurn
  private let tls: TLSContext?
  private let limits: ConnectionLimits
  private let budget: ServerBudget
  private let origins: ControlOrigins
  private let channels: WebChannels

  /// - Parameters:
  ///   - isLoopback: only this machine reaches the port.
  ///   - allowed: pages that may use the data, wherever they come from.
  ///   - stop: ends the server, where a request may ask for that.
  ///   - report: told what who serves should know.
  init(
    _ service: FirestoreService, _ turn: DeliveryTurn, _ tls: TLSContext?, isLoopback: Bool,
    allowed: Set<String> = [], stop: (@Sendable () -> Void)? = nil, report: (@Sendable (String) -> Void)? = nil,
    on loop: any EventLoop
  ) {
    self.service = service
    self.turn = turn
    self.tls = tls
    limits = isLoopback ? .loopback : .network
    budget = ServerBudget(on: loop, limit: ConnectionLimits.totalBytes)
    origins = ControlOrigins(isLoopback: isLoopback, allowed: allowed, stop: stop, report: report)
    // Over TLS browsers speak HTTP/2, and have as many channels as they like.
    channels = WebChannels(
      service, turn, budget, isLoopback ? .loopback : .network, on: loop, report: tls == nil ? report : nil)
  }

  /// Ends what outlives connections: the backend is let go with it. Call it on their thread.
  func close() { channels.close() }

  /// For a connection that is one too many.
  func refuse(_ channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(tls.serverHandler()) }
    try pipeline.addHandler(ConnectionRefusalHandler())
  }

  /// - Parameter heard: called when the client has said what it speaks.
  func configure(_ channel: any Channel, heard: @escaping () -> Void = {}) throws {
    let (turn, limits, service) = (turn, limits, service.serving(ClientID()))
    let held = ConnectionBudget(limits, budget, on: channel.eventLoop)
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(tls.serverHandler()) }
    let spoken = SpokenProtocolHandler(
      handshake: limits.handshake, heard: heard,
      http1: { [origins, channels] channel in
        try Self.addHTTP1(to: channel, service, origins, channels, held, handshake: limits.handshake)
      },
      http2: { [origins, channels] channel in
        try channel.pipeline.syncOperations.addHandlers(
          NIOHTTP2Handler(
            mode: .server, connectionConfiguration: limits.connection, streamConfiguration: limits.stream),
          ConnectionEndHandler(idle: limits.idle), BudgetHandler(held, maximumWindowUpdates: limits.windowUpdates),
          PromptCallHandler(service, held),
          HTTP2StreamMultiplexer(mode: .server, channel: channel, targetWindowSize: limits.windowBytes) { call in
            call.eventLoop.makeCompletedFuture {
              try call.pipeline.syncOperations.addHandlers(
                ResponseEndHandler(), CallHandler(service, origins, channels, turn, held))
            }
          })
      })
    try pipeline.addHandlers(TurnFlushHandler(), spoken)
  }

  /// - Parameter handshake: how long a client may send nothing while the server waits for it.
  static func addHTTP1(
    to channel: any Channel, _ service: FirestoreService, _ origins: ControlOrigins, _ channels: WebChannels,
    _ budget: ConnectionBudget, handshake: TimeAmount
  ) throws {
    var heads = NIOHTTPDecoderLimitConfiguration()
    (heads.maxHeaderFieldSize, heads.maxHeaderListSize) = (ConnectionLimits.headBytes, ConnectionLimits.headBytes)
    let received = ReceivedBytesHandler()
    try channel.pipeline.syncOperations.addHandlers(
      HTTPResponseEncoder(), received, ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: heads)),
      HTTPRequestHandler(service, origins, channels, .whole(budget, patience: handshake, received)))
  }
}

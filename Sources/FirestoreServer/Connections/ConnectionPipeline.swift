// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreService
import NIOCore
import NIOHTTP2
import TransportSecurity

/// What a connection goes through:
/// ```
/// bytes ─► (TLS) ─► TurnFlushHandler ─► PlainHTTPHandler ─► NIOHTTP2Handler
/// frames ─► ConnectionEndHandler ─► BudgetHandler ─► PromptCallHandler ─► HTTP2StreamMultiplexer
/// a channel per call ─► ResponseEndHandler ─► CallHandler
/// ```
struct ConnectionPipeline: Sendable {
  private let service: FirestoreService
  private let turn: DeliveryTurn
  private let tls: TLSContext?
  private let limits: ConnectionLimits
  private let budget: ServerBudget
  private let origins: ControlOrigins

  /// - Parameter isLoopback: only this machine reaches the port.
  init(
    _ service: FirestoreService, _ turn: DeliveryTurn, _ tls: TLSContext?, isLoopback: Bool, on loop: any EventLoop
  ) {
    self.service = service
    self.turn = turn
    self.tls = tls
    limits = isLoopback ? .loopback : .network
    budget = ServerBudget(on: loop, limit: ConnectionLimits.totalBytes)
    origins = ControlOrigins(isLoopback: isLoopback)
  }

  /// For a connection that is one too many.
  func refuse(_ channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(tls.serverHandler()) }
    try pipeline.addHandler(ConnectionRefusalHandler())
  }

  func configure(_ channel: any Channel) throws {
    let (turn, limits, service) = (turn, limits, service.serving(ClientID()))
    let held = ConnectionBudget(limits, budget, on: channel.eventLoop)
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(tls.serverHandler()) }
    try pipeline.addHandlers(
      TurnFlushHandler(), PlainHTTPHandler(service, origins, handshake: limits.handshake),
      NIOHTTP2Handler(
        mode: .server, connectionConfiguration: limits.connection, streamConfiguration: limits.stream),
      ConnectionEndHandler(idle: limits.idle), BudgetHandler(held, maximumWindowUpdates: limits.windowUpdates),
      PromptCallHandler(service, held),
      HTTP2StreamMultiplexer(mode: .server, channel: channel, targetWindowSize: limits.windowBytes) { call in
        call.eventLoop.makeCompletedFuture {
          try call.pipeline.syncOperations.addHandlers(ResponseEndHandler(), CallHandler(service, turn, held))
        }
      })
  }
}

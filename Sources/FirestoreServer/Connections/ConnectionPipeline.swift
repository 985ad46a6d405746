// SPDX-License-Identifier: Apache-2.0
import FirestoreService
import NIOCore
import NIOHTTP2
import NIOSSL

/// What a connection goes through:
/// ```
/// bytes ─► (TLS) ─► TurnFlushHandler ─► PlainHTTPHandler ─► NIOHTTP2Handler
/// frames ─► ConnectionEndHandler ─► PromptCallHandler ─► HTTP2StreamMultiplexer ─► a channel per call: CallHandler
/// ```
struct ConnectionPipeline: Sendable {
  /// Commits of 10 MiB are legal; the rest is room for what frames them.
  private static let maximumRequestBytes = 12 << 20
  /// Simultaneous calls of one connection.
  private static let maximumStreams = 8_192
  /// What a client may send of a call before it is read.
  private static let windowBytes = 1 << 20

  private let service: FirestoreService
  private let turn: DeliveryTurn
  private let tls: NIOSSLContext?

  init(_ service: FirestoreService, _ turn: DeliveryTurn, _ tls: NIOSSLContext?) {
    self.service = service
    self.turn = turn
    self.tls = tls
  }

  func configure(_ channel: any Channel) throws {
    let (service, turn) = (service, turn)
    var http2 = NIOHTTP2Handler.ConnectionConfiguration()
    http2.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.maximumStreams),
      HTTP2Setting(parameter: .initialWindowSize, value: Self.windowBytes),
      HTTP2Setting(parameter: .maxHeaderListSize, value: 16 << 10),
    ]
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
    try pipeline.addHandlers(
      TurnFlushHandler(), PlainHTTPHandler(service), NIOHTTP2Handler(mode: .server, connectionConfiguration: http2),
      ConnectionEndHandler(), PromptCallHandler(service),
      HTTP2StreamMultiplexer(mode: .server, channel: channel, targetWindowSize: Self.windowBytes) { call in
        call.eventLoop.makeCompletedFuture {
          try call.pipeline.syncOperations.addHandler(
            CallHandler(service, turn, maximumRequestBytes: Self.maximumRequestBytes))
        }
      })
  }
}

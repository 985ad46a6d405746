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

  /// The usual limits are for servers on the open net. Here one client's connection may carry thousands of listeners
  /// that end together, and gRPC's core pings many times a second while it measures the line.
  private static let connection = {
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: maximumStreams),
      HTTP2Setting(parameter: .initialWindowSize, value: windowBytes),
      HTTP2Setting(parameter: .maxHeaderListSize, value: 16 << 10),
    ]
    configuration.controlFrameRateLimit.maximumCount = maximumStreams
    configuration.maximumRecentlyResetStreams = maximumStreams
    configuration.maximumConnectionGlitches = maximumStreams
    return configuration
  }()
  private static let streams = {
    var configuration = NIOHTTP2Handler.StreamConfiguration()
    configuration.streamResetFrameRateLimit.maximumCount = 2 * maximumStreams
    configuration.streamErrorRateLimit.maximumCount = maximumStreams
    return configuration
  }()

  func configure(_ channel: any Channel) throws {
    let (service, turn) = (service, turn)
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
    try pipeline.addHandlers(
      TurnFlushHandler(), PlainHTTPHandler(service),
      NIOHTTP2Handler(mode: .server, connectionConfiguration: Self.connection, streamConfiguration: Self.streams),
      ConnectionEndHandler(), PromptCallHandler(service),
      HTTP2StreamMultiplexer(mode: .server, channel: channel, targetWindowSize: Self.windowBytes) { call in
        call.eventLoop.makeCompletedFuture {
          try call.pipeline.syncOperations.addHandler(
            CallHandler(service, turn, maximumRequestBytes: Self.maximumRequestBytes))
        }
      })
  }
}

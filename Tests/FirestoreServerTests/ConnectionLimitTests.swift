// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOEmbedded
import NIOHTTP2
import ServerTesting
import Testing

@testable import FirestoreServer

/// What one connection may do, and all together.
@Suite struct ConnectionLimitTests {
  private static let limits = ConnectionLimits(
    streams: 10, windowBytes: 65_535, requestBytes: 10_000, responseBytes: 20_000, windowUpdates: 5)

  private struct Connection {
    let channel: EmbeddedChannel
    let budget: ConnectionBudget

    init(_ server: ServerBudget, on loop: EmbeddedEventLoop) throws {
      budget = ConnectionBudget(limits, server, on: loop)
      channel = EmbeddedChannel(loop: loop)
      try channel.pipeline.syncOperations.addHandler(
        BudgetHandler(budget, maximumWindowUpdates: limits.windowUpdates))
      channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    }
  }

  private let loop = EmbeddedEventLoop()

  private func codes(_ frames: [HTTP2Frame]) -> [HTTP2ErrorCode] {
    frames.compactMap { frame in
      switch frame.payload {
      case .rstStream(let code), .goAway(_, let code, _): code
      default: nil
      }
    }
  }

  @Test("A call whose request is more than there is room for is reset; what others sent stays")
  func requests() throws {
    let connection = try Connection(ServerBudget(on: loop, limit: 1 << 20), on: loop)
    try connection.channel.writeInbound(HTTP2Frame.data(1, 8_000))
    try connection.channel.writeInbound(HTTP2Frame.data(3, 3_000))
    #expect(codes(try connection.channel.sentFrames()) == [.enhanceYourCalm])
    #expect(connection.budget.held.requests == 8_000)
    connection.channel.pipeline.fireUserInboundEventTriggered(StreamClosedEvent(streamID: 1, reason: nil))
    #expect(connection.budget.held.requests == 0)
    _ = try connection.channel.finish()
  }

  @Test("What a stream that goes on has been answered does not count any more")
  func answered() throws {
    let connection = try Connection(ServerBudget(on: loop, limit: 1 << 20), on: loop)
    for _ in 0..<10 {
      try connection.channel.writeInbound(HTTP2Frame.data(1, 5_000))
      connection.channel.writeAndFlush(HTTP2Frame.data(1, 10), promise: nil)
    }
    #expect(codes(try connection.channel.sentFrames()).isEmpty)
    #expect(connection.budget.held.requests == 0)
    _ = try connection.channel.finish()
  }

  @Test("Responses count until they are written, and then there is room again")
  func responses() throws {
    let connection = try Connection(ServerBudget(on: loop, limit: 1 << 20), on: loop)
    connection.channel.write(HTTP2Frame.data(1, 30_000), promise: nil)
    #expect(connection.budget.isFull && connection.budget.held.responses == 30_000)
    connection.channel.flush()
    #expect(!connection.budget.isFull && connection.budget.held.responses == 0)
    _ = try connection.channel.finish()
  }

  @Test("When all together hold too much, the connection that holds most is ended")
  func total() throws {
    let server = ServerBudget(on: loop, limit: 25_000)
    let (modest, greedy) = (try Connection(server, on: loop), try Connection(server, on: loop))
    modest.channel.write(HTTP2Frame.data(1, 8_000), promise: nil)
    greedy.channel.write(HTTP2Frame.data(1, 18_000), promise: nil)
    loop.run()
    #expect(codes(try greedy.channel.sentFrames()) == [.enhanceYourCalm])
    #expect(!greedy.channel.isActive && modest.channel.isActive)
    #expect(server.total == 8_000)
    _ = try modest.channel.finish()
    #expect(server.total == 0)
  }

  @Test("A client that widens windows and does nothing else is ended; one that reads what it asked for is not")
  func windowUpdates() throws {
    let update = HTTP2Frame(streamID: 1, payload: .windowUpdate(windowSizeIncrement: 1))
    let reader = try Connection(ServerBudget(on: loop, limit: 1 << 20), on: loop)
    reader.channel.writeAndFlush(HTTP2Frame.data(1, 100 << 10), promise: nil)
    for _ in 0..<100 { try reader.channel.writeInbound(update) }
    #expect(reader.channel.isActive)
    for _ in 0..<6 { try reader.channel.writeInbound(update) }
    #expect(codes(try reader.channel.sentFrames()) == [.enhanceYourCalm])
    #expect(!reader.channel.isActive)
  }

  @Test("A connection without a call is ended in order after some minutes, at once if nobody answers there")
  func idle() throws {
    let channel = EmbeddedChannel(handler: ConnectionEndHandler(idle: .minutes(5)), loop: loop)
    channel.pipeline.fireUserInboundEventTriggered(
      NIOHTTP2StreamCreatedEvent(streamID: 1, localInitialWindowSize: 1, remoteInitialWindowSize: 1))
    loop.advanceTime(by: .hours(1))
    #expect(try channel.sentFrames().isEmpty)
    channel.pipeline.fireUserInboundEventTriggered(StreamClosedEvent(streamID: 1, reason: nil))
    loop.advanceTime(by: .minutes(10))
    #expect(codes(try channel.sentFrames()) == [.noError])
    loop.advanceTime(by: .seconds(20))
    #expect(!channel.closeFuture.isPending)
  }

  @Test("Only a port that nobody else reaches is spared the library's limits against floods")
  func network() throws {
    let usual = NIOHTTP2Handler.ConnectionConfiguration()
    let network = ConnectionLimits.network.connection
    #expect(network.controlFrameRateLimit.maximumCount == usual.controlFrameRateLimit.maximumCount)
    #expect(network.maximumRecentlyResetStreams == usual.maximumRecentlyResetStreams)
    #expect(network.maximumConnectionGlitches == usual.maximumConnectionGlitches)
    #expect(network.initialSettings.contains(HTTP2Setting(parameter: .maxConcurrentStreams, value: 100)))
    let streams = ConnectionLimits.network.stream
    #expect(
      streams.streamResetFrameRateLimit.maximumCount
        == NIOHTTP2Handler.StreamConfiguration().streamResetFrameRateLimit.maximumCount)
  }
}

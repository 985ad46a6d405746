// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOEmbedded
import NIOHTTP2
import ServerTesting
import Testing

@testable import FirestoreServer

/// How a connection ends: announced, and behind its last call.
@Suite struct ConnectionEndTests {
  private let loop = EmbeddedEventLoop()
  private let channel: EmbeddedChannel

  init() throws { channel = try .connected(ConnectionEndHandler(idle: .minutes(5)), loop: loop) }

  private func begin(_ stream: Int) {
    channel.pipeline.fireUserInboundEventTriggered(
      NIOHTTP2StreamCreatedEvent(
        streamID: HTTP2StreamID(stream), localInitialWindowSize: 1, remoteInitialWindowSize: 1))
  }

  private func end(_ stream: Int) {
    channel.pipeline.fireUserInboundEventTriggered(StreamClosedEvent(streamID: HTTP2StreamID(stream), reason: nil))
  }

  /// Answers the PING that was sent.
  private func answer(_ frames: [HTTP2Frame]) throws {
    for frame in frames {
      guard case .ping(let data, ack: false) = frame.payload else { continue }
      try channel.writeInbound(HTTP2Frame(streamID: .rootStream, payload: .ping(data, ack: true)))
    }
  }

  @Test("A server that shuts down announces it, serves what was begun before that was heard, and closes behind it")
  func quiesce() throws {
    begin(1)
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    let announcement = try channel.sentFrames()
    #expect(announcement.map(\.payload.summary) == ["GOAWAY max", "PING"])
    begin(3)
    try answer(announcement)
    #expect(try channel.sentFrames().map(\.payload.summary) == ["GOAWAY 3"])
    end(1)
    #expect(channel.isActive)
    end(3)
    #expect(!channel.isActive)
  }

  @Test("Without a call it closes with the answer; another PING's is none")
  func answers() throws {
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    let announcement = try channel.sentFrames()
    try channel.writeInbound(
      HTTP2Frame(streamID: .rootStream, payload: .ping(HTTP2PingData(withInteger: 1), ack: true)))
    #expect(channel.isActive)
    try answer(announcement)
    #expect(!channel.isActive)
  }

  @Test("A client that does not answer is gone")
  func silence() throws {
    begin(1)
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    loop.advanceTime(by: .seconds(20))
    #expect(!channel.isActive)
  }

  @Test("An error of the connection ends it, one of a single call does not")
  func errors() throws {
    channel.pipeline.fireErrorCaught(NIOHTTP2Errors.noSuchStream(streamID: 1))
    #expect(channel.isActive)
    channel.pipeline.fireErrorCaught(NIOHTTP2Errors.badClientMagic())
    #expect(!channel.isActive)
    #expect(throws: (any Error).self) { try channel.throwIfErrorCaught() }
  }
}

// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOEmbedded
import NIOHTTP2
import Testing

@testable import FirestoreServer

@Suite struct ResponseEndTests {
  @Test("A call's channel is not reset or closed before the end of the response has left")
  func order() throws {
    let channel = EmbeddedChannel(handler: ResponseEndHandler())
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    let isHeld = EmbeddedChannel.Held()
    try channel.pipeline.syncOperations.addHandler(isHeld, position: .first)
    for payload in GRPCFraming.last(GRPCFraming.end(nil, hasHeaders: true), isRequestWhole: false) {
      channel.writeAndFlush(payload, promise: nil)
    }
    channel.close(promise: nil)
    #expect(channel.isActive && isHeld.count == 1)

    isHeld.release()

    #expect(!channel.isActive && isHeld.count == 2)
  }
}

extension EmbeddedChannel {
  /// Keeps the first write from leaving, as a window that is used up does.
  final class Held: ChannelOutboundHandler {
    typealias OutboundIn = HTTP2Frame.FramePayload
    private(set) var count = 0
    private var promise: EventLoopPromise<Void>?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      count += 1
      if count == 1 { self.promise = promise } else { context.write(data, promise: promise) }
    }

    func release() { promise?.succeed() }
  }
}

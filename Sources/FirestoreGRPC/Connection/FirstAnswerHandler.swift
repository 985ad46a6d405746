// SPDX-License-Identifier: Apache-2.0
import NIOCore

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

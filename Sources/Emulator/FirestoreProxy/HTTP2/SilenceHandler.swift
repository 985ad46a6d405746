// SPDX-License-Identifier: Apache-2.0
import HTTP2Frames
import NIOCore

/// Ends the connection to a server that sends nothing while calls wait for it, not even the answer to a ping. The client
/// cannot find out: the proxy answers its pings.
///
/// A ping follows a period without a byte, and the end the next one: after two to three periods.
final class SilenceHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let connection: FrameConnection
  private let period: TimeAmount
  private var hasHeard = false
  private var hasAsked = false
  private var next: Scheduled<Void>?

  init(_ connection: FrameConnection, period: TimeAmount) { (self.connection, self.period) = (connection, period) }

  func handlerAdded(context: ChannelHandlerContext) { schedule(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    hasHeard = true
    context.fireChannelRead(data)
  }

  func handlerRemoved(context: ChannelHandlerContext) { next?.cancel() }

  private func schedule(_ context: ChannelHandlerContext) {
    next = context.eventLoop.assumeIsolated().scheduleTask(in: period) { [weak self] in self?.check(context) }
  }

  private func check(_ context: ChannelHandlerContext) {
    if hasHeard || connection.ends.isEmpty {
      hasAsked = false
    } else if hasAsked {
      return context.fireErrorCaught(Silence())
    } else {
      hasAsked = true
      connection.ping()
    }
    hasHeard = false
    schedule(context)
  }

  private struct Silence: Error, CustomStringConvertible {
    var description: String { "it sent nothing and did not answer a ping" }
  }
}

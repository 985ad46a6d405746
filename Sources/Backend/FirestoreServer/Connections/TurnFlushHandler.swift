// SPDX-License-Identifier: Apache-2.0
package import NIOCore

/// Sends what a connection's streams write in one turn of its thread together: with one system call, at the end of
/// what was read, or at the next turn for what was written by itself. A change that a hundred streams are told costs
/// one call instead of a hundred; an answer does not wait.
package final class TurnFlushHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundIn = ByteBuffer

  /// Beyond this nothing is gained by waiting.
  private static let mostBytes = 256 << 10

  private var isReading = false
  private var isOwed = false
  private var isScheduled = false
  private var bytes = 0

  package init() {}

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    isReading = true
    context.fireChannelRead(data)
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    isReading = false
    flushIfOwed(context)
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    bytes += unwrapOutboundIn(data).readableBytes
    context.write(data, promise: promise)
  }

  package func flush(context: ChannelHandlerContext) {
    isOwed = true
    if bytes >= Self.mostBytes { return flushIfOwed(context) }
    if isReading || isScheduled { return }
    isScheduled = true
    context.eventLoop.assumeIsolated().execute {
      self.isScheduled = false
      self.flushIfOwed(context)
    }
  }

  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    flushIfOwed(context)
    context.close(mode: mode, promise: promise)
  }

  private func flushIfOwed(_ context: ChannelHandlerContext) {
    guard isOwed else { return }
    isOwed = false
    bytes = 0
    context.flush()
  }
}

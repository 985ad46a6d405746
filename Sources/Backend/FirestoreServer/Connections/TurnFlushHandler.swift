// SPDX-License-Identifier: Apache-2.0
package import NIOCore

/// Sends what a connection's streams write in one turn of its thread together: as one piece and with one system call,
/// at the end of what was read, or at the next turn for what was written by itself. A change that a hundred streams are
/// told costs one call instead of a hundred; an answer does not wait.
package final class TurnFlushHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// Beyond this nothing is gained by waiting.
  private static let mostBytes = 256 << 10
  /// The size up to which copying bytes costs less than handing them on by themselves.
  private static let copiedBytes = 8 << 10

  private var isReading = false
  private var isOwed = false
  private var isScheduled = false
  private var bytes = 0
  /// The bytes that were not handed on yet, and the promises of their writes.
  private var piece = ByteBuffer()
  private var promises: [EventLoopPromise<Void>] = []

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
    let part = unwrapOutboundIn(data)
    let count = part.readableBytes
    bytes += count
    if count > Self.copiedBytes {
      handOn(context)
      return context.write(data, promise: promise)
    }
    piece.writeImmutableBuffer(part)
    if let promise { promises.append(promise) }
    if piece.readableBytes >= Self.mostBytes { handOn(context) }
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
    handOn(context)
    context.close(mode: mode, promise: promise)
  }

  package func handlerRemoved(context: ChannelHandlerContext) {
    for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
    (promises, piece) = ([], ByteBuffer())
  }

  private func flushIfOwed(_ context: ChannelHandlerContext) {
    guard isOwed else { return }
    isOwed = false
    bytes = 0
    handOn(context)
    context.flush()
  }

  /// Writes the gathered bytes, in the place of the writes that they came by.
  private func handOn(_ context: ChannelHandlerContext) {
    if piece.readableBytes == 0, promises.isEmpty { return }
    let (whole, promises) = (piece, promises)
    // An idle connection keeps no buffer.
    (piece, self.promises) = (ByteBuffer(), [])
    if promises.count > 1 {
      promises[0].futureResult.whenComplete { result in
        for promise in promises.dropFirst() { promise.completeWith(result) }
      }
    }
    context.write(wrapOutboundOut(whole), promise: promises.first)
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore
import NIOHTTP2

/// Refuses a message that is too large, or compressed, with a status that says so. The transport behind it would reset
/// the stream, which a client takes for its own cancellation.
///
/// ```
/// DATA frames of one call:  0 ‖ length (4 bytes) ‖ message ‖ 0 ‖ length …
/// ```
final class MessageLimitHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let limit: Int
  /// How much of the next message's prefix has come.
  private var prefixCount = 0
  private var length = 0
  /// What is still to come of the current message.
  private var remaining = 0
  private var hasSentHeaders = false
  private var isRefused = false

  /// - Parameter limit: the most bytes of a message.
  init(limit: Int) { self.limit = limit }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .data(let frame) = unwrapInboundIn(data), case .byteBuffer(let bytes) = frame.data else {
      return context.fireChannelRead(data)
    }
    if isRefused { return }
    if let objection = objection(to: bytes) { refuse(context, objection) } else { context.fireChannelRead(data) }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if isRefused {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    if case .headers = unwrapOutboundIn(data) { hasSentHeaders = true }
    context.write(data, promise: promise)
  }

  private func objection(to bytes: ByteBuffer) -> RPCStatus? {
    var bytes = bytes
    while bytes.readableBytes > 0 {
      if remaining > 0 {
        let count = min(remaining, bytes.readableBytes)
        bytes.moveReaderIndex(forwardBy: count)
        remaining -= count
        continue
      }
      guard let byte = bytes.readInteger(as: UInt8.self) else { break }
      if prefixCount == 0, byte != 0 {
        return GRPCFraming.isCompressed
      }
      length = length << 8 | Int(byte)
      prefixCount += 1
      guard prefixCount == GRPCFraming.prefixLength else { continue }
      if length > limit {
        return GRPCFraming.isTooLarge(length, limit: limit)
      }
      (remaining, length, prefixCount) = (length, 0, 0)
    }
    return nil
  }

  private func refuse(_ context: ChannelHandlerContext, _ status: RPCStatus) {
    context.write(wrapOutboundOut(GRPCFraming.end(status, hasHeaders: hasSentHeaders)), promise: nil)
    // What the client is still sending is not wanted; this is no error of what was answered.
    context.writeAndFlush(wrapOutboundOut(.rstStream(.noError)), promise: nil)
    isRefused = true
    // The call ends as it does when the client gives it up.
    context.fireChannelRead(wrapInboundOut(.rstStream(.cancel)))
    context.close(promise: nil)
  }
}

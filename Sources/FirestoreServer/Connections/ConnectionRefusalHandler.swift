// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Ends a connection that is one too many: it says so in HTTP/2 (RFC 9113 §6.8), which clients take for `unavailable`
/// and try again later, and waits a moment for the client to close, who would not read it otherwise.
///
/// ```
/// active ──► SETTINGS, GOAWAY of no call, end of output ──► the client's end, or its time is over ──► closed
/// ```
final class ConnectionRefusalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// For the TLS handshake and the client's end.
  static let patience = TimeAmount.seconds(2)

  private static let reason = "too_many_connections"
  private static let (settings, goAway, enhanceYourCalm): (UInt8, UInt8, UInt32) = (4, 7, 11)

  private var deadline: Scheduled<Void>?

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { refuse(context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

  func channelActive(context: ChannelHandlerContext) {
    refuse(context)
    context.fireChannelActive()
  }

  /// Drops what the client sends: left unread, it would have the system take back what was said.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func refuse(_ context: ChannelHandlerContext) {
    if deadline != nil { return }
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { _ in channel.close(mode: .output, promise: nil) }
    context.writeAndFlush(wrapOutboundOut(Self.refusal), promise: written)
  }

  private static var refusal: ByteBuffer {
    var buffer = ByteBuffer()
    write(settings, [], to: &buffer)
    let none: UInt32 = 0
    let numbers = [none, enhanceYourCalm].flatMap { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
    write(goAway, numbers + reason.utf8, to: &buffer)
    return buffer
  }

  /// A frame about the connection.
  private static func write(_ type: UInt8, _ payload: [UInt8], to buffer: inout ByteBuffer) {
    buffer.writeBytes([0, 0, UInt8(payload.count), type, 0, 0, 0, 0, 0])
    buffer.writeBytes(payload)
  }
}

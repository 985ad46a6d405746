// SPDX-License-Identifier: Apache-2.0
import HTTP2Frames
import NIOCore

/// Ends a connection beyond the limit with a refusal in the client's protocol: in HTTP/2 (RFC 9113 §6.8), which gRPC's
/// clients take for `unavailable` and try again later, or in HTTP/1. Then it waits a moment for the client to close,
/// since the client would not read the refusal otherwise.
///
/// ```
/// the preface of HTTP/2  ──► SETTINGS, GOAWAY of no call ──┬──► end of output ──► the client's end, or its time is over
/// any other bytes        ──► 503                         ──┘
/// nothing                ──► closed when its time is over
/// ```
final class ConnectionRefusalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The time for the TLS handshake, the client's first bytes and its end.
  static let patience = TimeAmount.seconds(2)

  private static let reason = "too_many_connections"
  private static let (settings, goAway, enhanceYourCalm): (UInt8, UInt8, UInt32) = (4, 7, 11)

  private var deadline: Scheduled<Void>?
  private var received: [UInt8] = []
  private var hasAnswered = false

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

  /// Drops bytes that come after the answer: left unread, they would have the system take the answer back.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if hasAnswered { return }
    let preface = FrameReader.preface
    received += unwrapInboundIn(data).readableBytesView.prefix(preface.count - received.count)
    if preface.starts(with: received) {
      // The beginning tells HTTP/2 from every method of HTTP/1, and a client that goes on is not waited for.
      if received.count >= Self.telling { refuse(context, Self.goAwayFrames) }
    } else {
      refuse(context, Self.serviceUnavailable)
    }
  }

  /// `PRI` and a space tell HTTP/2 from every method of HTTP/1.
  private static let telling = 4

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func refuse(_ context: ChannelHandlerContext, _ refusal: ByteBuffer) {
    hasAnswered = true
    let channel = context.channel
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { _ in channel.close(mode: .output, promise: nil) }
    context.writeAndFlush(wrapOutboundOut(refusal), promise: written)
  }

  private static var serviceUnavailable: ByteBuffer {
    let text = "There are as many connections as there may be (--max-connections). Try again later.\n"
    return ByteBuffer(
      string: "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
        + "\(text.utf8.count)\r\nRetry-After: 5\r\nConnection: close\r\n\r\n\(text)")
  }

  private static var goAwayFrames: ByteBuffer {
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

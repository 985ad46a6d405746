// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Tells HTTP/1 from HTTP/2, which gRPC speaks, by the first bytes of a connection: HTTP/2 begins with a preface. The
/// handlers of what is spoken then take this one's place. A client that does not say what it speaks is not waited for
/// long.
///
/// ```
/// connection ──► SpokenProtocolHandler ──┬─ the preface ──────► HTTP/2 … gRPC
///                                        └─ any other bytes ──► HTTP/1 … REST, control
/// ```
final class SpokenProtocolHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// Adds the handlers of a protocol at the end of a connection's pipeline.
  typealias Configure = (any Channel) throws -> Void

  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private let handshake: TimeAmount
  private let http1: Configure
  private let http2: Configure
  private let heard: () -> Void
  private var deadline: Scheduled<Void>?
  /// So far all is the beginning of the preface.
  private var received = ByteBuffer()
  private var isDecided = false

  /// - Parameters:
  ///   - handshake: how long a client may take to say what it speaks.
  ///   - heard: called when it has.
  init(
    handshake: TimeAmount, heard: @escaping () -> Void = {}, http1: @escaping Configure, http2: @escaping Configure
  ) {
    self.handshake = handshake
    self.heard = heard
    self.http1 = http1
    self.http2 = http2
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: handshake) { channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDecided { return context.fireChannelRead(data) }
    var bytes = unwrapInboundIn(data)
    received.writeBuffer(&bytes)
    let common = zip(received.readableBytesView, Self.preface).prefix { $0 == $1 }.count
    if common == Self.preface.count {
      goOn(context, http2)
    } else if common < received.readableBytes {
      goOn(context, http1)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // Nobody behind this one knows what to say to the client.
    if !isDecided, event is ChannelShouldQuiesceEvent { return context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  private func goOn(_ context: ChannelHandlerContext, _ configure: Configure) {
    isDecided = true
    deadline?.cancel()
    heard()
    do { try configure(context.channel) } catch { return context.close(promise: nil) }
    context.fireChannelRead(wrapInboundOut(received))
    received = ByteBuffer()
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }
}

// SPDX-License-Identifier: Apache-2.0
import HTTP2Frames
package import NIOCore

/// Tells HTTP/1 from HTTP/2, which gRPC speaks, by the first bytes of a connection: HTTP/2 begins with a preface. The
/// handlers of the protocol then take this one's place. A client that does not begin to speak is not waited for long.
///
/// ```
/// connection ──► SpokenProtocolHandler ──┬─ the preface ──────► HTTP/2 … gRPC
///                                        └─ any other bytes ──► HTTP/1 … REST, control
/// ```
package final class SpokenProtocolHandler: ChannelInboundHandler, RemovableChannelHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer

  /// Adds the handlers of a protocol at the end of a connection's pipeline.
  package typealias Configure = (any Channel) throws -> Void

  private let handshake: TimeAmount
  private let silent: () -> Void
  private let http1: Configure
  private let http2: Configure
  private let heard: () -> Void
  private var deadline: Scheduled<Void>?
  /// The first bytes; so far all are the beginning of the preface.
  private var received = ByteBuffer()
  private var isDecided = false

  /// - Parameters:
  ///   - handshake: the time within which a client has to begin to speak its protocol.
  ///   - silent: called when it has not, before the connection is closed.
  ///   - heard: called when the protocol is known.
  package init(
    handshake: TimeAmount, silent: @escaping () -> Void = {}, heard: @escaping () -> Void = {},
    http1: @escaping Configure, http2: @escaping Configure
  ) {
    (self.handshake, self.silent) = (handshake, silent)
    self.heard = heard
    self.http1 = http1
    self.http2 = http2
  }

  package func handlerAdded(context: ChannelHandlerContext) {
    let (channel, silent) = (context.channel, silent)
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: handshake) {
      silent()
      channel.close(promise: nil)
    }
  }

  package func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDecided { return context.fireChannelRead(data) }
    var bytes = unwrapInboundIn(data)
    received.writeBuffer(&bytes)
    let common = zip(received.readableBytesView, FrameReader.preface).prefix { $0 == $1 }.count
    if common == FrameReader.preface.count {
      goOn(context, http2)
    } else if common < received.readableBytes {
      goOn(context, http1)
    }
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // No handler behind this one could tell the client that the server shuts down.
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

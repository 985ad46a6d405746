// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import NIOCore
import NIOHTTP1

/// A connection that speaks HTTP/1, as the carrier of its requests.
final class HTTPRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let exchange: HTTPExchange
  let loop: any EventLoop
  private var context: ChannelHandlerContext?

  /// - Parameter loop: that of the channel.
  init(_ exchange: HTTPExchange, on loop: any EventLoop) { (self.exchange, self.loop) = (exchange, loop) }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    exchange.begin(on: self)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    exchange.end()
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    exchange.lose()
    context.fireChannelInactive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { exchange.resume() }
    context.fireChannelWritabilityChanged()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { exchange.receive(unwrapInboundIn(data)) }

  func channelReadComplete(context: ChannelHandlerContext) {
    exchange.check()
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    if exchange.wantsMore() { context.read() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let fault = error as? HTTPParserError else { return context.close(promise: nil) }
    exchange.receive(fault)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { exchange.shutDown() }
    context.fireUserInboundEventTriggered(event)
  }

  /// Makes a WebSocket of the connection, which tells what rules decide.
  func upgrade(_ head: HTTPRequestHead, _ rules: AccessRules) {
    guard let context else { return }
    RequestMonitor.upgrade(context, head, rules) { head in
      self.write(head)
      _ = self.end()
      let pipeline = context.pipeline.syncOperations
      return EventLoopFuture.andAllSucceed(
        [
          // Handlers that are not there need not be removed.
          try? pipeline.context(handlerType: HTTPResponseEncoder.self),
          try? pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self), context,
        ].compactMap { $0 }.map { pipeline.removeHandler(context: $0) }, on: context.eventLoop)
    }.assumeIsolated().whenFailure { _ in context.close(promise: nil) }
  }
}

extension HTTPRequestHandler: HTTPCarrier {
  var isWritable: Bool { context?.channel.isWritable ?? false }
  var address: String? { context?.channel.remoteAddress?.ipAddress }

  func write(_ head: HTTPResponseHead) { context?.write(wrapOutboundOut(.head(head)), promise: nil) }
  func write(_ body: ByteBuffer) -> EventLoopFuture<Void> { send(.body(.byteBuffer(body))) }
  func end() -> EventLoopFuture<Void> { send(.end(nil)) }
  func flush() { context?.flush() }
  func read() { context?.read() }
  func close(_ mode: CloseMode) { context?.close(mode: mode, promise: nil) }

  private func send(_ part: HTTPServerResponsePart) -> EventLoopFuture<Void> {
    context?.writeAndFlush(wrapOutboundOut(part)) ?? loop.makeFailedFuture(ChannelError.ioOnClosedChannel)
  }
}

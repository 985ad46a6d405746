// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1

/// The client's side: requests come in, answers go out.
final class ClientSide: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let bridge: HTTP1Bridge
  private var context: ChannelHandlerContext?

  init(_ bridge: HTTP1Bridge) { self.bridge = bridge }

  func send(_ part: HTTPServerResponsePart, passed: @escaping () -> Void) {
    guard let context else { return }
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenSuccess { passed() }
    context.writeAndFlush(wrapOutboundOut(part), promise: promise)
  }

  func setReading(_ isOn: Bool) { context?.channel.setReading(isOn) }
  func close() { context?.close(promise: nil) }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func channelRead(context: ChannelHandlerContext, data: NIOAny) { bridge.receive(unwrapInboundIn(data)) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    bridge.clientFailed(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    bridge.clientClosed()
  }
}

/// The server's side: requests go out, answers come in.
final class ServerSide: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private weak var bridge: HTTP1Bridge?
  private var context: ChannelHandlerContext?
  private var failure: (any Error)?

  init(_ bridge: HTTP1Bridge?) { self.bridge = bridge }

  func send(_ part: HTTPClientRequestPart, passed: @escaping () -> Void) {
    guard let context else { return }
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenSuccess { passed() }
    context.writeAndFlush(wrapOutboundOut(part), promise: promise)
  }

  func setReading(_ isOn: Bool) { context?.channel.setReading(isOn) }
  func close() { context?.close(promise: nil) }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func channelRead(context: ChannelHandlerContext, data: NIOAny) { bridge?.receive(unwrapInboundIn(data), from: self) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    failure = error
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    bridge?.serverClosed(self, failure)
  }
}

extension Channel {
  fileprivate func setReading(_ isOn: Bool) {
    // A channel that is closed has nothing to be read.
    try? syncOptions?.setOption(.autoRead, value: isOn)
  }
}

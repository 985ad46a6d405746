// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

/// The first handler of a call's channel. It keeps the channel until the response has left: what waits for the client's
/// window would be lost with the channel.
///
/// ```
/// HEADERS END_STREAM ──► waits behind DATA for the window ──► written ──► RST_STREAM, close, as far as asked for
/// ```
final class ResponseEndHandler: ChannelOutboundHandler {
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private enum State {
    case open
    /// The end is on its way; what would overtake it waits here.
    case ending(reset: NIOAny?, close: [EventLoopPromise<Void>?])
    case written
  }

  private var state = State.open

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch (state, unwrapOutboundIn(data)) {
    case (.open, .headers(let headers)) where headers.endStream:
      state = .ending(reset: nil, close: [])
      let promise = promise ?? context.eventLoop.makePromise()
      promise.futureResult.assumeIsolated().whenComplete { _ in self.go(on: context) }
      context.write(data, promise: promise)
    case (.ending(_, let close), .rstStream):
      state = .ending(reset: data, close: close)
      promise?.succeed()
    default: context.write(data, promise: promise)
    }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if case .ending(let reset, let close) = state {
      state = .ending(reset: reset, close: close + [promise])
    } else {
      context.close(mode: mode, promise: promise)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    guard case .ending(_, let close) = state else { return }
    state = .written
    for promise in close { promise?.succeed() }
  }

  /// The response has left, or never will.
  private func go(on context: ChannelHandlerContext) {
    guard case .ending(let reset, let close) = state else { return }
    state = .written
    if let reset { context.writeAndFlush(reset, promise: nil) }
    for promise in close { context.close(promise: promise) }
  }
}

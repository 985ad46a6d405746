// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

/// Ends a connection: at once when it fails as a whole, and in order when the server shuts down or no call has been
/// made for long (RFC 9113 §6.8).
///
/// ```
/// quiesce, idle ──► GOAWAY of the last possible call, PING ──► its answer ──► GOAWAY of the last call ──► close behind it
/// ```
///
/// Calls that the client begins before it has read GOAWAY are served as well. A client that does not answer the PING is
/// gone.
final class ConnectionEndHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  private enum State {
    case open
    case announced
    case ending
  }

  /// The PING of the end; the server sends no other.
  private static let ping = HTTP2PingData(withInteger: 0x4865_6172_7468)

  private var state = State.open
  private var calls: Set<HTTP2StreamID> = []
  private var newest = HTTP2StreamID.rootStream
  private var wasUsed = true
  private var watch: Scheduled<Void>?
  private var context: ChannelHandlerContext?
  private let idle: TimeAmount

  /// The time within which a client has to answer a PING.
  private static let patience = TimeAmount.seconds(20)

  /// - Parameter idle: the time for which a connection without a call is kept, and up to twice that.
  init(idle: TimeAmount) { self.idle = idle }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    watch(context)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    watch?.cancel()
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .announced = state, case .ping(Self.ping, ack: true) = unwrapInboundIn(data).payload {
      state = .ending
      goAway(context, after: newest)
      closeIfDone(context)
    }
    context.fireChannelRead(data)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // Most events are of this kind; casts that fail are slow.
    if type(of: event) == NIOHTTP2WindowUpdatedEvent.self { return context.fireUserInboundEventTriggered(event) }
    switch event {
    case let creation as NIOHTTP2StreamCreatedEvent:
      calls.insert(creation.streamID)
      wasUsed = true
      newest = max(newest, creation.streamID)
    // This event also comes for calls that were refused before they began.
    case let end as StreamClosedEvent: calls.remove(end.streamID)
    case is ChannelShouldQuiesceEvent: announce(context)
    default: break
    }
    context.fireUserInboundEventTriggered(event)
    closeIfDone(context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Errors of single calls come this way too; their channels know them.
    if !(error is NIOHTTP2Errors.StreamError || error is NIOHTTP2Errors.NoSuchStream) { context.close(promise: nil) }
    context.fireErrorCaught(error)
  }

  /// Looks at the number of calls from time to time instead of after each call.
  private func watch(_ context: ChannelHandlerContext) {
    watch = context.eventLoop.assumeIsolated().scheduleTask(in: idle) { [weak self] in
      guard let self, let context = self.context else { return }
      if self.calls.isEmpty, !self.wasUsed { return self.announce(context) }
      self.wasUsed = false
      self.watch(context)
    }
  }

  private func announce(_ context: ChannelHandlerContext) {
    guard state == .open else { return }
    state = .announced
    goAway(context, after: .maxID)
    write(context, .ping(Self.ping, ack: false))
    watch?.cancel()
    watch = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in
      if let self, self.state == .announced { self.context?.close(promise: nil) }
    }
  }

  private func closeIfDone(_ context: ChannelHandlerContext) {
    if state == .ending, calls.isEmpty { context.close(promise: nil) }
  }

  private func goAway(_ context: ChannelHandlerContext, after stream: HTTP2StreamID) {
    write(context, .goAway(lastStreamID: stream, errorCode: .noError, opaqueData: nil))
  }

  private func write(_ context: ChannelHandlerContext, _ payload: HTTP2Frame.FramePayload) {
    context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
  }
}

// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

/// Ends a connection: at once when it fails as a whole, and in order when the server shuts down (RFC 9113 §6.8).
///
/// ```
/// quiesce ──► GOAWAY of the last possible call, PING ──► its answer ──► GOAWAY of the last call ──► close behind it
/// ```
///
/// Calls that the client begins before it has heard are served as well.
final class ConnectionEndHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  private enum State {
    case open
    case announced
    case ending
  }

  /// Nobody else pings.
  private static let ping = HTTP2PingData(withInteger: 0x4865_6172_7468)

  private var state = State.open
  private var calls: Set<HTTP2StreamID> = []
  private var newest = HTTP2StreamID.rootStream

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .announced = state, case .ping(Self.ping, ack: true) = unwrapInboundIn(data).payload {
      state = .ending
      goAway(context, after: newest)
      closeIfDone(context)
    }
    context.fireChannelRead(data)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // Most are of this kind; casts that fail are slow.
    if type(of: event) == NIOHTTP2WindowUpdatedEvent.self { return context.fireUserInboundEventTriggered(event) }
    switch event {
    case let creation as NIOHTTP2StreamCreatedEvent:
      calls.insert(creation.streamID)
      newest = max(newest, creation.streamID)
    // Also comes for calls that were refused before they began.
    case let end as StreamClosedEvent: calls.remove(end.streamID)
    case is ChannelShouldQuiesceEvent where state == .open:
      state = .announced
      goAway(context, after: .maxID)
      write(context, .ping(Self.ping, ack: false))
    default: break
    }
    context.fireUserInboundEventTriggered(event)
    closeIfDone(context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Those of single calls come this way too; their channels know.
    if !(error is NIOHTTP2Errors.StreamError || error is NIOHTTP2Errors.NoSuchStream) { context.close(promise: nil) }
    context.fireErrorCaught(error)
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

// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

/// The event that there is room for responses again after there was none.
struct ResponseRoomEvent {}

/// Counts the memory that a connection's calls hold, by their DATA frames, and ends calls and connections beyond the
/// limits: a call that sends more of a request than there is room for, and a connection that widens windows and does
/// nothing else.
///
/// ```
/// DATA in    counts until the call ends, or is answered while it goes on (Listen, Write)
/// DATA out   counts until it is written, which is when the client's window allows it
/// ```
final class BudgetHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame
  typealias InboundOut = HTTP2Frame
  typealias OutboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  private struct Request {
    var bytes = 0
    var isWhole = false
  }

  /// The size below which the DATA of a call is not counted: most calls are over before counting would matter.
  private static let least = 1 << 10

  private let budget: ConnectionBudget
  private let maximumWindowUpdates: Int
  private var requests: [HTTP2StreamID: Request] = [:]
  /// The number of window updates that no DATA explains, less those that written DATA explains in advance.
  private var windowUpdates = 0
  private var context: ChannelHandlerContext?

  init(_ budget: ConnectionBudget, maximumWindowUpdates: Int) {
    self.budget = budget
    self.maximumWindowUpdates = maximumWindowUpdates
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let loop = context.eventLoop.assumeIsolated()
    budget.open { [weak self] in
      // The end waits for the end of the write that was too much.
      loop.execute {
        if let self, let context = self.context { self.end(context) }
      }
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    budget.close()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.payload {
    case .data(let data):
      windowUpdates = min(windowUpdates, 0)
      if !receive(frame.streamID, data) { return reset(context, frame.streamID) }
    case .windowUpdate:
      windowUpdates += 1
      if windowUpdates > maximumWindowUpdates { return end(context) }
    case .headers: windowUpdates = min(windowUpdates, 0)
    default: break
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let frame = unwrapOutboundIn(data)
    guard case .data(let content) = frame.payload else { return context.write(data, promise: promise) }
    let bytes = content.data.readableBytes
    windowUpdates = min(windowUpdates, 0) - bytes / Self.least
    if let request = requests[frame.streamID], !request.isWhole {
      requests[frame.streamID] = nil
      budget.removeRequest(request.bytes)
    }
    if bytes < Self.least { return context.write(data, promise: promise) }
    let promise = promise ?? context.eventLoop.makePromise()
    budget.addResponse(bytes)
    promise.futureResult.assumeIsolated().whenComplete { _ in
      if self.budget.removeResponse(bytes) { context.fireUserInboundEventTriggered(ResponseRoomEvent()) }
    }
    context.write(data, promise: promise)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // Types are compared before the cast: casts that fail are slow.
    if !requests.isEmpty, type(of: event) == StreamClosedEvent.self, let end = event as? StreamClosedEvent,
      let request = requests.removeValue(forKey: end.streamID)
    {
      budget.removeRequest(request.bytes)
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// - Returns: false if there is no room.
  private func receive(_ stream: HTTP2StreamID, _ data: HTTP2Frame.FramePayload.Data) -> Bool {
    let bytes = data.data.readableBytes
    if requests.isEmpty || requests[stream] == nil, data.endStream, bytes < Self.least { return true }
    guard budget.addRequest(bytes) else { return false }
    requests[stream, default: Request()].bytes += bytes
    if data.endStream { requests[stream]?.isWhole = true }
    return true
  }

  /// Resets a call; gRPC's clients take this for `resource-exhausted`.
  private func reset(_ context: ChannelHandlerContext, _ stream: HTTP2StreamID) {
    let reset = HTTP2Frame(streamID: stream, payload: .rstStream(.enhanceYourCalm))
    context.writeAndFlush(wrapOutboundOut(reset), promise: nil)
  }

  private func end(_ context: ChannelHandlerContext) {
    let goAway = HTTP2Frame.FramePayload.goAway(
      lastStreamID: .maxID, errorCode: .enhanceYourCalm, opaqueData: ByteBuffer(string: "too_much_held"))
    context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: goAway)), promise: nil)
    context.close(promise: nil)
  }
}

// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

/// One side of a bridge: a connection that speaks HTTP/2, frame by frame. It gives its peer room for more bytes when
/// they have been passed on.
final class FrameHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  /// The news that a side tells its bridge.
  enum News {
    case frame(HTTP2Frame)
    /// A stream is over; the connection has ended it unless the reason is `nil`.
    case streamClosed(HTTP2StreamID, HTTP2ErrorCode?)
    /// The peer has sent what is not HTTP/2, or has broken its rules.
    case failed(any Error)
    case closed
  }

  /// The bytes that a peer may send on a stream, and on all streams of a connection, before they are passed on.
  static let streamWindow = 1 << 20
  static let connectionWindow = 8 << 20

  private let hear: (News) -> Void
  private var context: ChannelHandlerContext?
  private var isFlushing = false
  private var connectionCredit = 0
  private var streamCredits: [HTTP2StreamID: Int] = [:]

  init(_ hear: @escaping (News) -> Void) { self.hear = hear }

  var isClosed: Bool { context == nil }

  // MARK: Sending

  func send(_ streamID: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload, passed: (() -> Void)? = nil) {
    guard let context else { return }
    var promise: EventLoopPromise<Void>?
    if let passed {
      promise = context.eventLoop.makePromise()
      promise?.futureResult.assumeIsolated().whenSuccess { passed() }
    }
    context.write(wrapOutboundOut(HTTP2Frame(streamID: streamID, payload: payload)), promise: promise)
    flushSoon(context)
  }

  func reset(_ streamID: HTTP2StreamID, _ code: HTTP2ErrorCode) { send(streamID, .rstStream(code)) }

  func close() { context?.close(promise: nil) }

  /// Lets the peer send so many bytes more.
  /// - Parameter isOpen: whether more may come on the stream.
  func credit(_ bytes: Int, _ streamID: HTTP2StreamID, isOpen: Bool) {
    guard bytes > 0, context != nil else { return }
    connectionCredit += bytes
    if connectionCredit >= Self.connectionWindow / 4 {
      send(.rootStream, .windowUpdate(windowSizeIncrement: connectionCredit))
      connectionCredit = 0
    }
    guard isOpen else {
      streamCredits[streamID] = nil
      return
    }
    let credit = streamCredits[streamID, default: 0] + bytes
    streamCredits[streamID] = credit >= Self.streamWindow / 4 ? nil : credit
    if credit >= Self.streamWindow / 4 { send(streamID, .windowUpdate(windowSizeIncrement: credit)) }
  }

  private func flushSoon(_ context: ChannelHandlerContext) {
    if isFlushing { return }
    isFlushing = true
    context.eventLoop.assumeIsolated().execute {
      self.isFlushing = false
      self.context?.flush()
    }
  }

  // MARK: Hearing

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { widen() }
  }

  func channelActive(context: ChannelHandlerContext) {
    widen()
    context.fireChannelActive()
  }

  /// A connection begins with room for 65 535 bytes, whatever its settings say.
  private func widen() { send(.rootStream, .windowUpdate(windowSizeIncrement: Self.connectionWindow - 65_535)) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { hear(.frame(unwrapInboundIn(data))) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let event = event as? StreamClosedEvent {
      streamCredits[event.streamID] = nil
      hear(.streamClosed(event.streamID, event.reason))
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // An error of one stream ends that stream, and its end is told.
    if error is NIOHTTP2Errors.StreamError { return }
    hear(.failed(error))
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    hear(.closed)
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// A handler that speaks HTTP/2 for a side.
  static func http2(_ mode: NIOHTTP2Handler.ParserMode) -> NIOHTTP2Handler {
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    connection.initialSettings = [
      HTTP2Setting(parameter: .initialWindowSize, value: streamWindow),
      HTTP2Setting(parameter: .maxHeaderListSize, value: 64 << 10),
      mode == .server
        ? HTTP2Setting(parameter: .maxConcurrentStreams, value: 8_192) : HTTP2Setting(parameter: .enablePush, value: 0),
    ]
    // gRPC pings often while it measures a line, and a client's streams may end together.
    connection.controlFrameRateLimit.maximumCount = 16_384
    connection.maximumRecentlyResetStreams = 8_192
    connection.maximumConnectionGlitches = 8_192
    connection.maximumSequentialEmptyDataFrames = 16
    var stream = NIOHTTP2Handler.StreamConfiguration()
    stream.streamResetFrameRateLimit.maximumCount = 16_384
    stream.streamErrorRateLimit.maximumCount = 16_384
    return NIOHTTP2Handler(mode: mode, connectionConfiguration: connection, streamConfiguration: stream)
  }
}

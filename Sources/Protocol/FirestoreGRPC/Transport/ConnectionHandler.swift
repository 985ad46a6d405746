// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

/// The life of one HTTP/2 connection: its greeting, signs of life while nothing is sent, the peer's farewell, and its
/// end after a minute without calls.
final class ConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  private static let idleTime = TimeAmount.minutes(1)
  private static let secondLook = TimeAmount.milliseconds(50)
  /// The number of frames that a backend may send in half a minute without being taken for an attacker: a backend
  /// measures the line with pings, and resets each call that it answers early.
  static let mostControlFrames = 20_000

  private let signs: SignsOfLife
  private let keepalive: Connection.Keepalive
  private let greeted: EventLoopPromise<Void>
  private var hasGreeted = false
  /// Called when no more calls may begin.
  private var onRetirement: @Sendable () -> Void = {}

  private var context: ChannelHandlerContext?
  private var calls = 0
  private var timer: Scheduled<Void>?
  private var idleTimer: Scheduled<Void>?
  /// The reason why the connection ended, or is about to; `nil` while it is open.
  private(set) var failure: TransportFailure?
  private(set) var isRetired = false
  /// The last call that the peer has looked at by its own account, once it takes no more.
  private(set) var lastTakenCall: HTTP2StreamID?

  init(_ signs: SignsOfLife, _ keepalive: Connection.Keepalive, on loop: any EventLoop) {
    self.signs = signs
    self.keepalive = keepalive
    greeted = loop.makePromise()
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
    idleTimer?.cancel()
    // The greeting fails here for an address to which no connection came about.
    greeted.fail(failure ?? .cut(hasGreeted: false))
    self.context = nil
  }

  /// Waits for the peer's greeting.
  func greeting(onRetirement: @escaping @Sendable () -> Void) -> EventLoopFuture<Void> {
    self.onRetirement = onRetirement
    expectSign(since: .now())
    return greeted.futureResult
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data).payload {
    case .settings(.settings):
      hasGreeted = true
      greeted.succeed(())
      waitForCalls()
    case .goAway(let last, _, _):
      lastTakenCall = last
      retire()
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // An error of one call alone is reported to that call.
    if error is NIOHTTP2Errors.StreamError || error is NIOHTTP2Errors.StreamClosed { return }
    end(.broken(error))
  }

  func channelInactive(context: ChannelHandlerContext) {
    let failure = failure ?? .cut(hasGreeted: hasGreeted)
    self.failure = failure
    greeted.fail(failure)
    retire()
    context.fireChannelInactive()
  }

  // MARK: Calls

  func callBegins() {
    calls += 1
    idleTimer?.cancel()
  }

  func callEnds() {
    calls -= 1
    if calls == 0 { waitForCalls() }
  }

  private func waitForCalls() {
    guard let context else { return }
    if isRetired { return context.close(promise: nil) }
    idleTimer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.idleTime) {
      if self.calls == 0 { self.retire() }
    }
  }

  /// Lets the calls under way end, and closes.
  func retire() {
    guard !isRetired else { return }
    isRetired = true
    onRetirement()
    if calls == 0 { context?.close(promise: nil) }
  }

  // MARK: Signs of life

  /// Asks for a sign of life after silence; closes a connection on which none comes. A proxy in front of a dead server
  /// may have accepted a new connection.
  private func expectSign(since asked: NIODeadline) {
    schedule(in: TimeAmount(keepalive.timeout)) { handler in
      if handler.signs.last >= asked { return handler.watch() }
      // A thread that had other work, or a process that was stopped, reads first what has come meanwhile.
      handler.schedule(in: Self.secondLook) { handler in
        if handler.signs.last < asked { handler.end(.silent) } else { handler.watch() }
      }
    }
  }

  private func watch() {
    let due = signs.last + TimeAmount(keepalive.time)
    guard due <= .now() else { return schedule(in: due - .now()) { $0.watch() } }
    guard let context else { return }
    let ping = HTTP2Frame(streamID: .rootStream, payload: .ping(HTTP2PingData(withInteger: 0), ack: false))
    context.writeAndFlush(wrapOutboundOut(ping), promise: nil)
    expectSign(since: .now())
  }

  private func schedule(in time: TimeAmount, _ body: @escaping (ConnectionHandler) -> Void) {
    timer = context?.eventLoop.assumeIsolated().scheduleTask(in: time) { body(self) }
  }

  private func end(_ failure: TransportFailure) {
    if self.failure == nil { self.failure = failure }
    context?.close(promise: nil)
  }
}

/// The time at which the last bytes came from the peer.
final class SignsOfLife: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private(set) var last = NIODeadline.uptimeNanoseconds(0)

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    last = .now()
    context.fireChannelRead(data)
  }
}

// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The connections that are open, how many there may be, and the channel that accepts them.
final class ServedConnections: Sendable {
  private struct State {
    var listener: (any Channel)?
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isQuiescing = false
  }

  private let loop: any EventLoop
  private let limit: Int
  private let state: NIOLoopBoundBox<State>

  /// - Parameters:
  ///   - loop: the thread of all connections.
  ///   - limit: how many there may be.
  init(on loop: any EventLoop, limit: Int) {
    self.loop = loop
    self.limit = limit
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// To be called on the connections' thread.
  /// - Returns: false if there are as many as there may be; then this one is not among them.
  func add(_ channel: any Channel) -> Bool {
    if state.value.channels.count >= limit { return false }
    let id = ObjectIdentifier(channel)
    state.value.channels[id] = channel
    channel.closeFuture.assumeIsolated().whenComplete { _ in self.state.value.channels[id] = nil }
    if state.value.isQuiescing { channel.close(promise: nil) }
    return true
  }

  func accept(from listener: any Channel) async {
    await onLoop { state in
      state.listener = listener
      if state.isQuiescing { listener.close(promise: nil) }
    }
  }

  /// Accepts no more connections, takes no more calls on those that there are, and has them end with their last call
  /// (RFC 9113 §6.8).
  func quiesce() async {
    await onLoop { state in
      state.isQuiescing = true
      state.listener?.close(promise: nil)
      for channel in state.channels.values {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
      }
    }
  }

  /// Returns when no connection is left.
  func ended() async {
    let ends = await onLoop { state in state.channels.values.map(\.closeFuture) }
    try? await EventLoopFuture.andAllComplete(ends, on: loop).get()
  }

  /// Closes them all.
  func close() async {
    await onLoop { state in for channel in state.channels.values { channel.close(promise: nil) } }
    await ended()
  }

  private func onLoop<Result: Sendable>(_ body: @escaping @Sendable (inout State) -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      loop.execute { continuation.resume(returning: body(&self.state.value)) }
    }
  }
}

/// Ends a connection that is one too many: it says so in HTTP/2 (RFC 9113 §6.8), which clients take for `unavailable`
/// and try again later, and waits a moment for the client to close, who would not read it otherwise.
///
/// ```
/// active ──► SETTINGS, GOAWAY of no call, end of output ──► the client's end, or its time is over ──► closed
/// ```
final class ConnectionRefusalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// For the TLS handshake and the client's end.
  static let patience = TimeAmount.seconds(2)

  private static let reason = "too_many_connections"
  private static let (settings, goAway, enhanceYourCalm): (UInt8, UInt8, UInt32) = (4, 7, 11)

  private var deadline: Scheduled<Void>?

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { refuse(context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

  func channelActive(context: ChannelHandlerContext) {
    refuse(context)
    context.fireChannelActive()
  }

  /// Drops what the client sends: left unread, it would have the system take back what was said.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func refuse(_ context: ChannelHandlerContext) {
    if deadline != nil { return }
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { _ in channel.close(mode: .output, promise: nil) }
    context.writeAndFlush(wrapOutboundOut(Self.refusal), promise: written)
  }

  private static var refusal: ByteBuffer {
    var buffer = ByteBuffer()
    write(settings, [], to: &buffer)
    let none: UInt32 = 0
    let numbers = [none, enhanceYourCalm].flatMap { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
    write(goAway, numbers + reason.utf8, to: &buffer)
    return buffer
  }

  /// A frame about the connection.
  private static func write(_ type: UInt8, _ payload: [UInt8], to buffer: inout ByteBuffer) {
    buffer.writeBytes([0, 0, UInt8(payload.count), type, 0, 0, 0, 0, 0])
    buffer.writeBytes(payload)
  }
}

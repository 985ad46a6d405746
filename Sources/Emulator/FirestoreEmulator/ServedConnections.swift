// SPDX-License-Identifier: Apache-2.0
import HTTP2Frames
import NIOCore

/// The connections that are open, their bound, and the channel that accepts them.
final class ServedConnections: Sendable {
  /// The number of a connection, in the order in which connections come.
  typealias Number = Int

  private struct State {
    var listener: (any Channel)?
    var channels: [Number: any Channel] = [:]
    /// The connections that have sent nothing so far; `order` has all since the first of them, so that it is found at
    /// once.
    var silent: Set<Number> = []
    var order: CircularBuffer<Number> = []
    var last = 0
    var isQuiescing = false

    /// - Returns: `nil` if all have spoken.
    mutating func takeOldestSilent() -> (any Channel)? {
      while let first = order.first {
        order.removeFirst()
        guard silent.contains(first), let channel = channels[first] else { continue }
        remove(first)
        return channel
      }
      return nil
    }

    mutating func remove(_ number: Number) {
      channels[number] = nil
      silent.remove(number)
      while let first = order.first, !silent.contains(first) { order.removeFirst() }
    }
  }

  private let loop: any EventLoop
  private let limit: Int
  private let state: NIOLoopBoundBox<State>

  /// - Parameters:
  ///   - loop: the thread of all connections.
  ///   - limit: the most connections at a time.
  init(on loop: any EventLoop, limit: Int) {
    self.loop = loop
    self.limit = limit
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// Adds a connection, on the connections' thread. At the limit, the connection that has been silent for longest makes
  /// room: a client that connects and sends nothing keeps no other out.
  /// - Returns: `nil` if there is no room; then the connection was not added.
  func add(_ channel: any Channel) -> Number? {
    if state.value.channels.count >= limit {
      // The silent connection's place is free at once, not only when the channel has closed.
      guard let silent = state.value.takeOldestSilent() else { return nil }
      silent.close(promise: nil)
    }
    state.value.last += 1
    let number = state.value.last
    state.value.channels[number] = channel
    state.value.silent.insert(number)
    state.value.order.append(number)
    channel.closeFuture.assumeIsolated().whenComplete { _ in self.state.value.remove(number) }
    if state.value.isQuiescing { channel.close(promise: nil) }
    return number
  }

  /// Notes that a client's protocol is known. To be called on the connections' thread.
  func hear(_ number: Number) {
    state.value.silent.remove(number)
  }

  func accept(from listener: any Channel) async {
    await onLoop { state in
      state.listener = listener
      if state.isQuiescing { listener.close(promise: nil) }
    }
  }

  /// Accepts no more connections, takes no more calls on the open ones, and has these end with their last call (RFC
  /// 9113 §6.8).
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

  /// Closes all connections.
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

/// Ends a connection beyond the limit with a refusal in the client's protocol: in HTTP/2 (RFC 9113 §6.8), which gRPC's
/// clients take for `unavailable` and try again later, or in HTTP/1. Then it waits a moment for the client to close,
/// since the client would not read the refusal otherwise.
///
/// ```
/// the preface of HTTP/2  ──► SETTINGS, GOAWAY of no call ──┬──► end of output ──► the client's end, or its time is over
/// any other bytes        ──► 503                         ──┘
/// nothing                ──► closed when its time is over
/// ```
final class ConnectionRefusalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The time for the TLS handshake, the client's first bytes and its end.
  static let patience = TimeAmount.seconds(2)

  private static let reason = "too_many_connections"
  private static let (settings, goAway, enhanceYourCalm): (UInt8, UInt8, UInt32) = (4, 7, 11)

  private var deadline: Scheduled<Void>?
  private var received: [UInt8] = []
  private var hasAnswered = false

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

  /// Drops bytes that come after the answer: left unread, they would have the system take the answer back.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if hasAnswered { return }
    let preface = FrameReader.preface
    received += unwrapInboundIn(data).readableBytesView.prefix(preface.count - received.count)
    if preface.starts(with: received) {
      // The beginning tells HTTP/2 from every method of HTTP/1, and a client that goes on is not waited for.
      if received.count >= Self.telling { refuse(context, Self.goAwayFrames) }
    } else {
      refuse(context, Self.serviceUnavailable)
    }
  }

  /// `PRI` and a space tell HTTP/2 from every method of HTTP/1.
  private static let telling = 4

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func refuse(_ context: ChannelHandlerContext, _ refusal: ByteBuffer) {
    hasAnswered = true
    let channel = context.channel
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { _ in channel.close(mode: .output, promise: nil) }
    context.writeAndFlush(wrapOutboundOut(refusal), promise: written)
  }

  private static var serviceUnavailable: ByteBuffer {
    let text = "There are as many connections as there may be (--max-connections). Try again later.\n"
    return ByteBuffer(
      string: "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
        + "\(text.utf8.count)\r\nRetry-After: 5\r\nConnection: close\r\n\r\n\(text)")
  }

  private static var goAwayFrames: ByteBuffer {
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

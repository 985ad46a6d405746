// SPDX-License-Identifier: Apache-2.0
import HTTP2Frames
import NIOCore

/// The open connections, their limit, and the channel that accepts them.
final class ServedConnections: Sendable {
  /// The number of a connection, in the order of arrival.
  typealias Number = Int

  private struct State {
    var listeners: [any Channel] = []
    var channels: [Number: any Channel] = [:]
    /// The connections that have not sent anything. `order` begins with the oldest of these connections, so that it is
    /// found immediately.
    var silent: Set<Number> = []
    var order: CircularBuffer<Number> = []
    var last = 0
    var isQuiescing = false

    /// - Returns: `nil` if all connections have sent something.
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
  ///   - limit: the maximum number of connections.
  init(on loop: any EventLoop, limit: Int) {
    self.loop = loop
    self.limit = limit
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// Adds a connection. Call it on the connections' thread. At the limit, the oldest connection that has not sent
  /// anything is closed, so that silent clients do not lock out others.
  /// - Returns: `nil` if no connection can be closed; then nothing is added.
  func add(_ channel: any Channel) -> Number? {
    if state.value.channels.count >= limit {
      // The silent connection's place is free immediately, not only after its channel has closed.
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

  /// Records that a client's protocol is known. Call it on the connections' thread.
  func hear(_ number: Number) {
    state.value.silent.remove(number)
  }

  func accept(from listener: any Channel) async {
    await onLoop { state in
      state.listeners.append(listener)
      if state.isQuiescing { listener.close(promise: nil) }
    }
  }

  /// Accepts no more connections and no more calls on the open ones. A connection ends after its last call (RFC 9113
  /// §6.8).
  func quiesce() async {
    await onLoop { state in
      state.isQuiescing = true
      for listener in state.listeners { listener.close(promise: nil) }
      for channel in state.channels.values {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
      }
    }
  }

  /// Returns when no connection remains.
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

/// Ends a connection above the limit with a rejection in the client's protocol, HTTP/1 or HTTP/2 (RFC 9113 §6.8). gRPC
/// clients treat the rejection as `unavailable` and retry later. The handler then waits until the client closes the
/// connection, or for a short time. Otherwise the client might not read the rejection.
///
/// ```
/// the preface of HTTP/2  ──► SETTINGS, GOAWAY(last = 0) ──┬──► end of output ──► the client closes, or time is up
/// any other bytes        ──► 503                        ──┘
/// nothing                ──► closed when time is up
/// ```
final class ConnectionRefusalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The time that the TLS handshake, the client's first bytes and the closing may take.
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

  /// Discards bytes after the response. If they were unread when the connection closes, the system would discard the
  /// response.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if hasAnswered { return }
    let preface = FrameReader.preface
    received += unwrapInboundIn(data).readableBytesView.prefix(preface.count - received.count)
    if preface.starts(with: received) {
      // The rest of the preface is not needed: these bytes distinguish HTTP/2 from every HTTP/1 method.
      if received.count >= Self.telling { refuse(context, Self.goAwayFrames) }
    } else {
      refuse(context, Self.serviceUnavailable)
    }
  }

  /// The number of bytes that distinguish HTTP/2 from every HTTP/1 method: `PRI` and a space.
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
    let text = "The maximum number of connections is reached (--max-connections). Try again later.\n"
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

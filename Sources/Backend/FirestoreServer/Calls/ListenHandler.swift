// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreService
import NIOCore
import NIOHTTP2

/// Serves one Listen call on the connection's thread, where the backend runs too: a commit wakes the streams that it
/// concerns, and each sends its messages at its next turn. While the client does not read, or its connection holds as
/// much as it may, nothing is taken from the backend, which then merges waiting changes per document.
///
/// ```
/// DATA ──► ListenStream.receive            commit ──► wake ──► next turn: take … while there is room ──► DATA
/// END_STREAM ──► close, grpc-status 0      take throws ──► close, grpc-status
/// ```
final class ListenHandler: ChannelInboundHandler, RemovableChannelHandler, Delivering {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let service: FirestoreService
  private let turn: DeliveryTurn
  private let budget: ConnectionBudget
  private let timeout: TimeAmount?
  private var deadline: Scheduled<Void>?
  private var tokenDeadline: TokenDeadline?
  private var stream: ListenStream?
  private var context: ChannelHandlerContext?
  private var received = ByteBuffer()
  private var isScheduled = false
  private var waitsForRoom = false
  private var hasClientEnded = false

  /// - Parameters:
  ///   - budget: the budget of the connection.
  ///   - timeout: the time that the caller will wait; `nil` for ever.
  init(_ service: FirestoreService, _ turn: DeliveryTurn, _ budget: ConnectionBudget, timeout: TimeAmount?) {
    self.service = service
    self.turn = turn
    self.budget = budget
    self.timeout = timeout
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    stream = ListenStream(service) { bound.value.schedule() }
    watchToken(context.eventLoop)
    deadline = timeout.map { timeout in
      context.eventLoop.scheduleTask(in: timeout) {
        let handler = bound.value
        if let context = handler.context { handler.end(context, GRPCFraming.isOverdue) }
      }
    }
  }

  /// Ends the call when the caller's token expires.
  private func watchToken(_ loop: any EventLoop) {
    tokenDeadline = TokenDeadline(service, on: loop) { [weak self] status in
      if let self, let context = self.context { self.end(context, status) }
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { close() }

  func channelInactive(context: ChannelHandlerContext) {
    close()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard stream != nil else { return }
    switch unwrapInboundIn(data) {
    case .headers(let frame):
      // Headers at the end of a request carry nothing for the server.
      if frame.endStream { hasClientEnded = true } else { greet(context) }
    case .data(let frame):
      guard case .byteBuffer(var bytes) = frame.data else { return }
      hasClientEnded = frame.endStream
      if received.readableBytes == 0 { received = bytes } else { received.writeBuffer(&bytes) }
      receive(context)
    case .rstStream: close()
    default: break
    }
    if hasClientEnded, stream != nil { end(context, nil) }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { schedule() }
    context.fireChannelWritabilityChanged()
  }

  /// Tells the client that the stream is open.
  private func greet(_ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: GRPCFraming.headers))), promise: nil)
  }

  private func receive(_ context: ChannelHandlerContext) {
    do throws(RPCStatus) {
      while let message = try GRPCFraming.nextMessage(&received, limit: ConnectionLimits.requestMessageBytes) {
        try stream?.receive(message)
      }
      // The bytes that were read are part of a larger buffer, which an idle stream need not keep.
      if received.readableBytes == 0 { received = ByteBuffer() } else { received.discardReadBytes() }
    } catch { end(context, error) }
  }

  /// Has the messages delivered at the next turn: by then all of a commit, or of several, has been recorded.
  private func schedule() {
    if isScheduled { return }
    isScheduled = true
    turn.schedule(self)
  }

  func deliver() {
    isScheduled = false
    guard let context, context.channel.isWritable else { return }
    if budget.isFull { return waitForRoom() }
    do throws(RPCStatus) {
      guard let (messages, hasMore) = try stream?.take() else { return }
      for batch in messages.inBatches {
        context.write(wrapOutboundOut(GRPCFraming.data(batch, context.channel.allocator)), promise: nil)
      }
      if !messages.isEmpty { context.flush() }
      // The rest is sent at another turn: others are waiting too.
      if hasMore { schedule() }
    } catch { end(context, error) }
  }

  private func waitForRoom() {
    if waitsForRoom { return }
    waitsForRoom = true
    budget.wait {
      self.waitsForRoom = false
      self.schedule()
    }
  }

  private func end(_ context: ChannelHandlerContext, _ status: RPCStatus?) {
    close()
    let end = GRPCFraming.end(status, hasHeaders: true)
    for payload in GRPCFraming.last(end, isRequestWhole: hasClientEnded) {
      context.write(wrapOutboundOut(payload), promise: nil)
    }
    context.flush()
    context.close(promise: nil)
  }

  private func close() {
    stream?.close()
    deadline?.cancel()
    tokenDeadline?.cancel()
    (stream, deadline, tokenDeadline) = (nil, nil, nil)
    context = nil
  }
}

// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreModel
package import FirestoreService
package import NIOCore
import NIOPosix

/// The thread of all connections, on ports and local sockets. It lives as long as the process.
package enum ServerThread {
  private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  package static var loop: any EventLoop { loops.next() }

  /// An executor on this thread. A backend on the same thread answers without a thread switch, which would be most of
  /// the cost of a small call. While the backend reads or writes, connections wait.
  package static var executor: any SerialExecutor { loop.executor }

  /// Whether the caller runs on this thread. If so, the caller must not wait for the thread.
  package static var isCurrent: Bool { loop.inEventLoop }

  /// Lets the thread serve connections between two steps of long work. Yielding is not enough: the thread checks its
  /// sockets only when no task is ready.
  package static let pause: @Sendable () async -> Void = {
    // The thread lives as long as the process, so it never rejects a task.
    try? await loop.scheduleTask(in: .microseconds(100)) {}.futureResult.get()
  }
}

/// Collects the commits that arrive in one turn of the connections' thread, on all connections, and applies them in one
/// transaction of the log, each atomically. A commit is answered after the whole transaction is stored. Used only on
/// the connections' thread.
package final class CommitBatcher: Sendable {
  package typealias Answer = (Result<[UInt8], RPCStatus>) -> Void

  /// The maximum number of commits in one transaction. A larger group would save little and delay other work.
  private static let most = 64

  private struct State {
    var orders: [CommitOrder] = []
    var answers: [Answer] = []
    var isScheduled = false
  }

  private let service: FirestoreService
  private let state: NIOLoopBoundBox<State>

  /// - Parameters:
  ///   - service: its backend runs on the loop.
  ///   - loop: the connections' thread.
  package init(_ service: FirestoreService, on loop: any EventLoop) {
    self.service = service
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// - Parameter answer: called with the response message once the commit is stored or rejected.
  package func add(_ order: CommitOrder, answer: @escaping Answer) {
    state.value.orders.append(order)
    state.value.answers.append(answer)
    if state.value.orders.count >= Self.most { return commit() }
    if state.value.isScheduled { return }
    state.value.isScheduled = true
    state.eventLoop.assumeIsolated().execute {
      self.state.value.isScheduled = false
      self.commit()
    }
  }

  private func commit() {
    let (orders, answers) = (state.value.orders, state.value.answers)
    if orders.isEmpty { return }
    (state.value.orders, state.value.answers) = ([], [])
    for (answer, result) in zip(answers, service.commitAtOnce(orders)) { answer(result) }
  }
}

/// The stream of a listener, on any transport.
package protocol Delivering: AnyObject {
  /// Sends the messages of one backend step; schedules itself again if there are more messages.
  func deliver()
}

/// The streams that have messages to deliver, in order. One task on the connections' thread serves the streams that a
/// commit wakes, for at most `longest`. The remaining streams wait until the thread has checked its sockets. Used only
/// on that thread.
package final class DeliverySlice: Sendable {
  /// The delay of the next turn. Without a delay, the task would run before the thread checks its sockets.
  private static let pause = TimeAmount.microseconds(100)
  /// The longest time of a turn; about as long as a step of the backend.
  static let longest = TimeAmount.milliseconds(2)

  private struct State {
    var waiting: CircularBuffer<any Delivering> = []
    var isScheduled = false
  }

  /// The connections' thread.
  var loop: any EventLoop { state.eventLoop }

  private let state: NIOLoopBoundBox<State>
  private let now: @Sendable () -> NIODeadline

  /// - Parameters:
  ///   - loop: the connections' thread.
  ///   - now: the clock that measures a turn.
  package init(_ loop: any EventLoop, now: @escaping @Sendable () -> NIODeadline = { .now() }) {
    state = .makeBoxSendingValue(State(), eventLoop: loop)
    self.now = now
  }

  package func schedule(_ call: any Delivering) {
    state.value.waiting.append(call)
    if state.value.isScheduled { return }
    state.value.isScheduled = true
    state.eventLoop.assumeIsolated().execute { self.deliver() }
  }

  private func deliver() {
    let end = now() + Self.longest
    while let call = state.value.waiting.popFirst() {
      call.deliver()
      if now() >= end { break }
    }
    if state.value.waiting.isEmpty {
      state.value.isScheduled = false
    } else {
      state.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.deliver() }
    }
  }
}

/// Combines the output of a connection's streams in one turn of its thread and sends it with one system call. Output
/// during a read is sent at the end of the read, and other output is sent at the next turn. A change sent to a hundred
/// streams costs one system call instead of a hundred.
package final class ReadFlushHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// The size in bytes at which output is sent without waiting for more.
  private static let mostBytes = 256 << 10
  /// The maximum size in bytes of output that is copied. Larger output is cheaper to pass on separately.
  private static let copiedBytes = 8 << 10

  private var isReading = false
  private var isOwed = false
  private var isScheduled = false
  private var bytes = 0
  /// The bytes that are not passed on yet, and the promises of their writes.
  private var piece = ByteBuffer()
  private var promises: [EventLoopPromise<Void>] = []

  package init() {}

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    isReading = true
    context.fireChannelRead(data)
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    isReading = false
    flushIfOwed(context)
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let part = unwrapOutboundIn(data)
    let count = part.readableBytes
    bytes += count
    if count > Self.copiedBytes {
      handOn(context)
      return context.write(data, promise: promise)
    }
    piece.writeImmutableBuffer(part)
    if let promise { promises.append(promise) }
    if piece.readableBytes >= Self.mostBytes { handOn(context) }
  }

  package func flush(context: ChannelHandlerContext) {
    isOwed = true
    if bytes >= Self.mostBytes { return flushIfOwed(context) }
    if isReading || isScheduled { return }
    isScheduled = true
    context.eventLoop.assumeIsolated().execute {
      self.isScheduled = false
      self.flushIfOwed(context)
    }
  }

  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    flushIfOwed(context)
    handOn(context)
    context.close(mode: mode, promise: promise)
  }

  package func handlerRemoved(context: ChannelHandlerContext) {
    for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
    (promises, piece) = ([], ByteBuffer())
  }

  private func flushIfOwed(_ context: ChannelHandlerContext) {
    guard isOwed else { return }
    isOwed = false
    bytes = 0
    handOn(context)
    context.flush()
  }

  /// Writes the collected bytes in place of the original writes.
  private func handOn(_ context: ChannelHandlerContext) {
    if piece.readableBytes == 0, promises.isEmpty { return }
    let (whole, promises) = (piece, promises)
    // An idle connection retains no buffer.
    (piece, self.promises) = (ByteBuffer(), [])
    if promises.count > 1 {
      promises[0].futureResult.whenComplete { result in
        for promise in promises.dropFirst() { promise.completeWith(result) }
      }
    }
    context.write(wrapOutboundOut(whole), promise: promises.first)
  }
}

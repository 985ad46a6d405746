// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// One call, for its caller. It ends with its answer, with the caller's task, or with the connection. On the connection's
/// thread everything is done at once.
final class CallStream: Sendable {
  let stream: NIOLoopBound<ResponseStream>
  let inbox: ResponseInbox

  init(_ stream: NIOLoopBound<ResponseStream>, _ inbox: ResponseInbox) {
    self.stream = stream
    self.inbox = inbox
  }

  /// Sends a message; returns once the connection has taken it.
  /// - Throws: the reason for which the call is over; `CancellationError`.
  func send(_ message: [UInt8]) async throws {
    if stream.eventLoop.inEventLoop {
      try await stream.value.send(message)?.value()
    } else {
      try await stream.eventLoop.flatSubmit { [stream] in
        do {
          return try stream.value.send(message) ?? stream.eventLoop.makeSucceededVoidFuture()
        } catch {
          return stream.eventLoop.makeFailedFuture(error)
        }
      }.value()
    }
  }

  /// Tells the backend that no more messages come.
  func finish() { perform { $0.finish() } }

  /// The messages that have come, once there are any; `nil` at the end.
  /// - Throws: the backend's `RPCStatus`, `TransportFailure`, or `CancellationError`.
  func next() async throws -> [ByteBuffer]? {
    try await withTaskCancellationHandler {
      guard let taken = try await inbox.take() else { return nil }
      if taken.isReadOwed { settle() }
      return taken.messages
    } onCancel: {
      abandon()
    }
  }

  /// Gives the peer room for more.
  func settle() { perform { $0.settle() } }

  /// Ends the call, unless it is over; unread messages are dropped.
  func abandon() {
    if inbox.abandon() { perform { $0.abandon() } }
  }

  private func perform(_ work: @escaping @Sendable (ResponseStream) -> Void) {
    if stream.eventLoop.inEventLoop { return work(stream.value) }
    stream.eventLoop.execute { [stream] in work(stream.value) }
  }
}

extension EventLoopFuture where Value: Sendable {
  /// The value of the future; a cancelled task stops waiting.
  func value() async throws -> Value {
    let promise = eventLoop.makePromise(of: Value.self)
    cascade(to: promise)
    return try await withTaskCancellationHandler {
      try await promise.futureResult.get()
    } onCancel: {
      promise.fail(CancellationError())
    }
  }
}

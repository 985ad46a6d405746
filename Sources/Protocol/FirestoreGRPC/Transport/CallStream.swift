// SPDX-License-Identifier: Apache-2.0
import NIOCore
import Synchronization

/// One call, as its caller uses it. The call ends with its response, with the caller's task, or with the connection. If
/// the caller is on the connection's thread, its operations run immediately.
final class CallStream: Sendable {
  let stream: NIOLoopBound<ResponseStream>
  let inbox: ResponseInbox

  init(_ stream: NIOLoopBound<ResponseStream>, _ inbox: ResponseInbox) {
    self.stream = stream
    self.inbox = inbox
  }

  /// Sends a message. Returns when the connection has accepted the message.
  /// - Throws: the reason why the call has ended; `CancellationError` if the task is canceled.
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

  /// Notifies the backend that no more messages follow.
  func finish() { perform { $0.finish() } }

  /// Waits for messages and returns all messages that have arrived; `nil` at the end.
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

  /// Gives the peer flow-control credit, so that it can send more messages.
  func settle() { perform { $0.settle() } }

  /// Ends the call if it is still running, and drops unread messages.
  func abandon() {
    if inbox.abandon() { perform { $0.abandon() } }
  }

  private func perform(_ work: @escaping @Sendable (ResponseStream) -> Void) {
    if stream.eventLoop.inEventLoop { return work(stream.value) }
    stream.eventLoop.execute { [stream] in work(stream.value) }
  }
}

extension EventLoopFuture where Value: Sendable {
  /// Waits for the value of the future. A canceled task stops waiting.
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

/// The messages that one call has received but its task has not read yet. The connection's thread adds messages, and
/// one task reads them.
final class ResponseInbox: Sendable {
  /// The number of messages and the number of bytes at which the stream is no longer read, so that HTTP/2 applies
  /// backpressure.
  private static let capacity = (messages: 256, bytes: 1 << 20)

  private struct State {
    var messages: [ByteBuffer] = []
    var bytes = 0
    var end: Result<Void, any Error>?
    var waiter: CheckedContinuation<Void, Never>?
    /// Whether the stream has stopped reading because the inbox was full.
    var isReadRefused = false
  }

  private let state = Mutex(State())

  /// The messages that one call of `take` returns.
  struct Taken {
    var messages: [ByteBuffer]
    /// Whether the caller must make the stream resume reading.
    var isReadOwed: Bool
  }

  // MARK: The connection

  /// Adds messages.
  /// - Returns: whether the stream may continue to read. If it may not, `take` later reports when to resume.
  @discardableResult
  func put(_ messages: [ByteBuffer]) -> Bool {
    let (isRoomLeft, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
      // The rest of an abandoned response is read and dropped.
      if state.end != nil { return (true, nil) }
      state.messages += messages
      for message in messages { state.bytes += message.readableBytes }
      state.isReadRefused = state.messages.count >= Self.capacity.messages || state.bytes >= Self.capacity.bytes
      return (!state.isReadRefused, messages.isEmpty ? nil : state.waiter.take())
    }
    waiter?.resume()
    return isRoomLeft
  }

  /// Ends the call. Only the first end counts. Messages that arrived before the end can still be read.
  func end(_ end: Result<Void, any Error>) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.end == nil { state.end = end }
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// The error with which the call ended; `nil` if there is none.
  var failure: (any Error)? {
    if case .failure(let error)? = state.withLock({ $0.end }) { error } else { nil }
  }

  // MARK: The caller

  /// Ends the call because its caller has abandoned it, and drops unread messages.
  /// - Returns: whether the call was still running.
  func abandon() -> Bool {
    let (isFirst, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
      state.messages = []
      let isFirst = state.end == nil
      if isFirst { state.end = .failure(CancellationError()) }
      return (isFirst, state.waiter.take())
    }
    waiter?.resume()
    return isFirst
  }

  /// Waits for messages. Returns `nil` at the end of a response without an error.
  /// - Precondition: only one task calls this function.
  func take() async throws -> Taken? {
    while true {
      let (taken, end) = takeWaiting()
      if let taken { return taken }
      if let end {
        try end.get()
        return nil
      }
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.end != nil || !state.messages.isEmpty { return true }
          state.waiter = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    }
  }

  /// Removes and returns the received messages. If there are none and the call has ended, returns how it ended.
  func takeWaiting() -> (Taken?, Result<Void, any Error>?) {
    state.withLock { state in
      guard !state.messages.isEmpty else { return (nil, state.end) }
      defer { (state.messages, state.bytes, state.isReadRefused) = ([], 0, false) }
      return (Taken(messages: state.messages, isReadOwed: state.isReadRefused), nil)
    }
  }
}

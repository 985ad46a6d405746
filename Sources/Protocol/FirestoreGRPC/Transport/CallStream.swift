// SPDX-License-Identifier: Apache-2.0
import NIOCore
import Synchronization

/// One call, as its caller uses it. It ends with its response, with the caller's task, or with the connection.
/// Operations of a caller on the connection's thread run immediately.
final class CallStream: Sendable {
  let stream: NIOLoopBound<ResponseStream>
  let inbox: ResponseInbox

  init(_ stream: NIOLoopBound<ResponseStream>, _ inbox: ResponseInbox) {
    self.stream = stream
    self.inbox = inbox
  }

  /// Sends a message, and waits until the connection has accepted it.
  /// - Throws: the reason why the call has ended; `CancellationError`.
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

  /// Waits for messages and returns all that have arrived; `nil` at the end.
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

  /// Gives the peer flow-control credit for more messages.
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

/// The received messages of one call that its task has not read yet. The connection's thread adds messages, and one
/// task reads them.
final class ResponseInbox: Sendable {
  /// The maximum number of messages and bytes. At this size the stream is not read, so that HTTP/2 applies
  /// backpressure.
  private static let capacity = (messages: 256, bytes: 1 << 20)

  private struct State {
    var messages: [ByteBuffer] = []
    var bytes = 0
    var end: Result<Void, any Error>?
    var waiter: CheckedContinuation<Void, Never>?
    /// Whether the stream stopped reading because the inbox was full.
    var isReadRefused = false
  }

  private let state = Mutex(State())

  /// The messages returned by one call of `take`.
  struct Taken {
    var messages: [ByteBuffer]
    /// Whether the stream must resume reading.
    var isReadOwed: Bool
  }

  // MARK: The connection

  /// Adds messages.
  /// - Returns: whether the stream may continue to read. If not, `take` reports when it must resume.
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

  /// Ends the call. Only the first end counts. Messages that arrived before can still be read.
  func end(_ end: Result<Void, any Error>) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.end == nil { state.end = end }
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// The call's final error; `nil` if there is none.
  var failure: (any Error)? {
    if case .failure(let error)? = state.withLock({ $0.end }) { error } else { nil }
  }

  // MARK: The caller

  /// Ends the call because its caller has abandoned it; drops unread messages.
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

  /// Waits for messages; `nil` at the end of a response without an error.
  /// - Precondition: only one task calls this.
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

  /// Takes the received messages. If there are none and the call has ended, returns its end.
  func takeWaiting() -> (Taken?, Result<Void, any Error>?) {
    state.withLock { state in
      guard !state.messages.isEmpty else { return (nil, state.end) }
      defer { (state.messages, state.bytes, state.isReadRefused) = ([], 0, false) }
      return (Taken(messages: state.messages, isReadOwed: state.isReadRefused), nil)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
import NIOCore
import Synchronization

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

/// The messages of one call that its task has not taken yet. The connection's thread puts, one task takes.
final class ResponseInbox: Sendable {
  /// The numbers of messages and bytes beyond which the stream is not read, and HTTP/2 pushes back.
  private static let capacity = (messages: 256, bytes: 1 << 20)

  private struct State {
    var messages: [ByteBuffer] = []
    var bytes = 0
    var end: Result<Void, any Error>?
    var waiter: CheckedContinuation<Void, Never>?
    /// Whether the stream asked to be read while there was no room.
    var isReadRefused = false
  }

  private let state = Mutex(State())

  /// The messages that one call of `take` returns.
  struct Taken {
    var messages: [ByteBuffer]
    /// Whether the stream is to be read on.
    var isReadOwed: Bool
  }

  // MARK: The connection

  /// Adds messages.
  /// - Returns: whether the stream may be read on; if not, `take` reports that a read is owed.
  @discardableResult
  func put(_ messages: [ByteBuffer]) -> Bool {
    let (isRoomLeft, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
      // The rest of an answer that was given up is read, and dropped.
      if state.end != nil { return (true, nil) }
      state.messages += messages
      for message in messages { state.bytes += message.readableBytes }
      state.isReadRefused = state.messages.count >= Self.capacity.messages || state.bytes >= Self.capacity.bytes
      return (!state.isReadRefused, messages.isEmpty ? nil : state.waiter.take())
    }
    waiter?.resume()
    return isRoomLeft
  }

  /// Ends the call; the first end counts. Messages from before it are taken first.
  func end(_ end: Result<Void, any Error>) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.end == nil { state.end = end }
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// The error that the call has ended with; `nil` without one.
  var failure: (any Error)? {
    if case .failure(let error)? = state.withLock({ $0.end }) { error } else { nil }
  }

  // MARK: The caller

  /// Ends the call because its caller has given up; messages that were not taken are dropped.
  /// - Returns: whether the call was not over before.
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

  /// Waits for messages; `nil` at the end of an answer without an error.
  /// - Precondition: only one task takes.
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

  /// Takes the messages that have come; without any the end, if the call is over.
  func takeWaiting() -> (Taken?, Result<Void, any Error>?) {
    state.withLock { state in
      guard !state.messages.isEmpty else { return (nil, state.end) }
      defer { (state.messages, state.bytes, state.isReadRefused) = ([], 0, false) }
      return (Taken(messages: state.messages, isReadOwed: state.isReadRefused), nil)
    }
  }
}

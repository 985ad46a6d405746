// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

/// One call: a stream of an HTTP/2 connection. It ends with its answer, with the caller's task, or with the connection.
final class CallStream: Sendable {
  private let channel: any Channel
  private let inbox: ResponseInbox

  init(_ channel: any Channel, _ inbox: ResponseInbox) {
    self.channel = channel
    self.inbox = inbox
  }

  /// Sends a message; returns once the connection has taken it.
  func send(_ message: [UInt8]) async throws {
    try await channel.writeAndFlush(Self.data(message, isLast: false)).value()
  }

  /// Tells the backend that no more messages come.
  func finish() { channel.writeAndFlush(Self.data(nil, isLast: true), promise: nil) }

  /// The messages that have come, once there are any; `nil` at the end.
  /// - Throws: the backend's `RPCStatus`, `TransportFailure`, or `CancellationError`.
  func next() async throws -> [ByteBuffer]? {
    try await withTaskCancellationHandler {
      guard let taken = try await inbox.take() else { return nil }
      if taken.isReadOwed { channel.read() }
      return taken.messages
    } onCancel: {
      abandon()
    }
  }

  /// Ends the call; unread messages are dropped.
  func abandon() {
    inbox.end(.failure(CancellationError()), isAbandoned: true)
    channel.close(promise: nil)
  }

  /// The frame with a message.
  /// - Parameter message: the message; `nil` for the end alone.
  static func data(_ message: [UInt8]?, isLast: Bool) -> HTTP2Frame.FramePayload {
    var buffer = ByteBuffer()
    if let message {
      buffer.reserveCapacity(message.count + 5)
      buffer.writeInteger(0 as UInt8)
      buffer.writeInteger(UInt32(message.count))
      buffer.writeBytes(message)
    }
    return .data(.init(data: .byteBuffer(buffer), endStream: isLast))
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

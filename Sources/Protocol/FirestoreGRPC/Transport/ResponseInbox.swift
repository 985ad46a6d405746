// SPDX-License-Identifier: Apache-2.0
import NIOCore
import Synchronization

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

  func put(_ message: ByteBuffer) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.end == nil else { return nil }
      state.messages.append(message)
      state.bytes += message.readableBytes
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Whether there is room; if there is none, `take` reports that a read is owed.
  func mayRead() -> Bool {
    state.withLock { state in
      if state.end == nil, state.messages.count >= Self.capacity.messages || state.bytes >= Self.capacity.bytes {
        state.isReadRefused = true
        return false
      }
      return true
    }
  }

  /// Ends the call; the first end counts. Messages from before it are taken first, unless the caller itself gave up.
  func end(_ end: Result<Void, any Error>, isAbandoned: Bool = false) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if isAbandoned { state.messages = [] }
      if state.end == nil { state.end = end }
      return state.waiter.take()
    }
    waiter?.resume()
  }

  // MARK: The caller

  /// Waits for messages; `nil` at the end of an answer without an error.
  /// - Precondition: only one task takes.
  func take() async throws -> Taken? {
    while true {
      let (taken, end) = state.withLock { state -> (Taken?, Result<Void, any Error>?) in
        guard !state.messages.isEmpty else { return (nil, state.end) }
        defer { (state.messages, state.bytes, state.isReadRefused) = ([], 0, false) }
        return (Taken(messages: state.messages, isReadOwed: state.isReadRefused), nil)
      }
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
}

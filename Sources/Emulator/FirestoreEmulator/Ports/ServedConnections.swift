// SPDX-License-Identifier: Apache-2.0
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

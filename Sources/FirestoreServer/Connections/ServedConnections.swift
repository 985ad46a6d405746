// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The connections that are open, how many there may be, and the channel that accepts them.
final class ServedConnections: Sendable {
  private struct State {
    var listener: (any Channel)?
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isQuiescing = false
  }

  private let loop: any EventLoop
  private let limit: Int
  private let state: NIOLoopBoundBox<State>

  /// - Parameters:
  ///   - loop: the thread of all connections.
  ///   - limit: how many there may be.
  init(on loop: any EventLoop, limit: Int) {
    self.loop = loop
    self.limit = limit
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// To be called on the connections' thread.
  /// - Returns: false if there are as many as there may be; then this one is not among them.
  func add(_ channel: any Channel) -> Bool {
    if state.value.channels.count >= limit { return false }
    let id = ObjectIdentifier(channel)
    state.value.channels[id] = channel
    channel.closeFuture.assumeIsolated().whenComplete { _ in self.state.value.channels[id] = nil }
    if state.value.isQuiescing { channel.close(promise: nil) }
    return true
  }

  func accept(from listener: any Channel) async {
    await onLoop { state in
      state.listener = listener
      if state.isQuiescing { listener.close(promise: nil) }
    }
  }

  /// Accepts no more connections, takes no more calls on those that there are, and has them end with their last call
  /// (RFC 9113 §6.8).
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

  /// Closes them all.
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

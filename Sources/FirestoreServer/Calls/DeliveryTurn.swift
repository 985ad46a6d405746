// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// A listener's stream, whatever carries it.
protocol Delivering: AnyObject {
  /// Sends what there is.
  func deliver()
}

/// The streams that have something to deliver at the next turn of the connections' thread: one task for all that a
/// commit wakes. Used on that thread only.
final class DeliveryTurn: Sendable {
  private let waiting: NIOLoopBoundBox<[any Delivering]>

  /// - Parameter loop: the connections' thread.
  init(_ loop: any EventLoop) { waiting = .makeBoxSendingValue([], eventLoop: loop) }

  func schedule(_ call: any Delivering) {
    waiting.value.append(call)
    if waiting.value.count == 1 { waiting.eventLoop.assumeIsolated().execute { self.deliver() } }
  }

  private func deliver() {
    let calls = waiting.value
    waiting.value = []
    for call in calls { call.deliver() }
  }
}

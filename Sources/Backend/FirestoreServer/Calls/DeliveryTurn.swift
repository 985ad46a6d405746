// SPDX-License-Identifier: Apache-2.0
package import NIOCore

/// A listener's stream on any carrier.
package protocol Delivering: AnyObject {
  /// Sends the waiting messages, or as many as one step of the backend gives; then schedules itself again for the rest.
  func deliver()
}

/// The streams that have something to deliver at the next turns of the connections' thread, in order: one task for all
/// streams that a commit wakes, as long as it takes no longer than others may wait. Streams that are left then wait
/// until the thread has looked at its sockets. Used on that thread only.
package final class DeliveryTurn: Sendable {
  /// The delay of the next turn. A task that is merely enqueued runs before the sockets are looked at, which the thread
  /// does when it has nothing to do until later.
  private static let pause = TimeAmount.microseconds(100)
  /// The longest time of a turn, about a step of the backend.
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
  ///   - now: tells how long a turn takes.
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

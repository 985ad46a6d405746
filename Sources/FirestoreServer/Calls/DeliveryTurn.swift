// SPDX-License-Identifier: Apache-2.0
package import NIOCore

/// A listener's stream, whatever carries it.
package protocol Delivering: AnyObject {
  /// Sends what there is, or as much as one step of the backend gives; then it schedules itself again.
  func deliver()
}

/// The streams that have something to deliver at the next turns of the connections' thread, in order: one task for all that
/// a commit wakes, as long as it takes no longer than others may wait. What is left then waits until the thread has looked
/// at its sockets. Used on that thread only.
package final class DeliveryTurn: Sendable {
  /// What is merely enqueued again goes before the sockets: the thread looks at those when it has nothing to do until later.
  private static let pause = TimeAmount.microseconds(100)
  /// About a step of the backend.
  static let longest = TimeAmount.milliseconds(2)

  private struct State {
    var waiting: CircularBuffer<any Delivering> = []
    var isScheduled = false
  }

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

// SPDX-License-Identifier: Apache-2.0
package import Dispatch

/// A thread that runs work strictly in order. Several actors can share the thread, and it may also run other work.
package protocol WorkLoop: Sendable {
  /// Whether the caller is on the thread.
  var isCurrent: Bool { get }
  func perform(_ work: @escaping @Sendable () -> Void)
  /// Allows other work to run between two steps of a long task.
  func pause() async
}

extension WorkLoop {
  package func pause() async { await Task.yield() }
}

/// Runs an actor on a serial queue, strictly in order. The actor may block on SQLite without blocking a thread of
/// Swift's cooperative pool. If a loop is given, the actor runs on the loop instead.
package final class QueueExecutor: SerialExecutor {
  package let queue: DispatchQueue
  private let loop: (any WorkLoop)?

  /// - Parameter loop: the loop that runs the actor instead of a separate queue; `nil` for a queue.
  package init(label: String, on loop: (any WorkLoop)? = nil) {
    queue = DispatchQueue(label: label)
    self.loop = loop
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Runs work after all work that was enqueued earlier.
  package func async(_ work: @escaping @Sendable () -> Void) {
    if let loop { loop.perform(work) } else { queue.async(execute: work) }
  }

  /// Allows other work to run between two steps of a long task.
  package func pause() async {
    if let loop { await loop.pause() } else { await Task.yield() }
  }

  package func checkIsolated() {
    if let loop { precondition(loop.isCurrent) } else { dispatchPrecondition(condition: .onQueue(queue)) }
  }
}

/// Runs tasks on the queue of an actor, so that calls to the actor need no thread switch. Use it for tasks that mainly
/// call the actor.
package final class QueueTaskExecutor: TaskExecutor {
  private let queue: QueueExecutor

  package init(_ queue: QueueExecutor) { self.queue = queue }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

// SPDX-License-Identifier: Apache-2.0
package import Dispatch

/// Runs an actor on a serial queue: strictly first in, first out, and free to block on SQLite without holding a thread
/// of the cooperative pool.
package final class QueueExecutor: SerialExecutor {
  package let queue: DispatchQueue

  package init(label: String) { queue = DispatchQueue(label: label) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Runs an actor on a serial queue: strictly first in, first out, and free to block on SQLite without holding a thread
/// of the cooperative pool.
final class QueueExecutor: SerialExecutor {
  let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

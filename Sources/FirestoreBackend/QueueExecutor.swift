// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Runs an actor's jobs in the order in which they arrive, on a queue of its own: SQLite blocks its thread, which the
/// cooperative pool cannot spare.
final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

// SPDX-License-Identifier: Apache-2.0
import FirestoreSimulation
import SerialExecutors
import Synchronization

/// A virtual loop's part for one actor or task, whose jobs are counted: each is a hop between executors.
final class CountedLoop: WorkLoop, TaskExecutor {
  private let base: VirtualLoop
  private let jobs = Atomic(0)

  init(_ base: VirtualLoop) { self.base = base }

  var count: Int { jobs.load(ordering: .relaxed) }
  var isCurrent: Bool { base.isCurrent }

  func perform(_ work: @escaping @Sendable () -> Void) {
    jobs.add(1, ordering: .relaxed)
    base.perform(work)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    perform { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// Threads of their own for tests that wait for other processes. On the threads that all tests share, which are as many
/// as there are processors, each step after a wait is performed when everything that other tests compute has had its
/// turn: a test of a hundred steps lasts as long as all of them together, and the processes that it started go on.
package final class TestThreads: TaskExecutor {
  package static let shared = TestThreads(count: 6)

  private let jobs = Mutex<[UnownedJob]>([])
  private let count = DispatchSemaphore(value: 0)

  private init(count: Int) {
    for _ in 0..<count { Thread.detachNewThread { [self] in work() } }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    count.signal()
  }

  private func work() {
    while true {
      count.wait()
      let job = jobs.withLock { $0.removeFirst() }
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

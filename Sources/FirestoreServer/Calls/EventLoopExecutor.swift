// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Runs tasks on an event loop's own thread: what a call does between reading its request and sending its answer then
/// costs no change of thread.
final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOPosix
import SerialExecutors
import Synchronization

/// A thread of one client: for its connections, and for its engine and its streams (`Datastore.loop`). An answer is then dealt with on the thread that read it, and a request is written by the thread that made it. Each
/// change of threads spared is a processor that need not be woken.
///
/// While the engine works, nothing is read: what the server sends waits in the kernel, and then at the server.
package final class ConnectionThread: WorkLoop, TaskExecutor {
  /// The threads without a client. A thread does not end with its client, since what comes too late for the client must
  /// still run, as the end of a task that waits for it.
  private static let idle = Mutex<[MultiThreadedEventLoopGroup]>([])

  private let group: MultiThreadedEventLoopGroup
  let loop: any EventLoop

  package init() {
    group = Self.idle.withLock { $0.popLast() } ?? MultiThreadedEventLoopGroup(numberOfThreads: 1)
    loop = group.next()
  }

  deinit {
    let group = group
    Self.idle.withLock { $0.append(group) }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  package var isCurrent: Bool { loop.inEventLoop }

  /// Runs work after all that was enqueued before.
  package func perform(_ work: @escaping @Sendable () -> Void) { loop.execute(work) }

  /// Lets the connections be read between two steps of long work. Work that is merely enqueued runs before them.
  package func pause() async {
    // A thread that lives as long as the process refuses no task.
    try? await loop.scheduleTask(in: .microseconds(100)) {}.futureResult.get()
  }
}

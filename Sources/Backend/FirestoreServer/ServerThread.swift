// SPDX-License-Identifier: Apache-2.0
package import NIOCore
import NIOPosix

/// The thread of all connections, those of ports and those of sockets. It lives as long as the process.
package enum ServerThread {
  private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  package static var loop: any EventLoop { loops.next() }

  /// Runs on that thread. A backend that runs on it too answers without a change of thread, which is most of what a small
  /// call costs otherwise; while it reads or writes, connections wait.
  package static var executor: any SerialExecutor { loop.executor }

  /// Whether the caller is on that thread, which must not wait for it.
  package static var isCurrent: Bool { loop.inEventLoop }

  /// Lets connections be served between two steps of long work on that thread. A task that is merely enqueued runs
  /// before them: the thread looks at its sockets when it has nothing else to do until later.
  package static let pause: @Sendable () async -> Void = {
    // A thread that lives as long as the process refuses no task.
    try? await loop.scheduleTask(in: .microseconds(100)) {}.futureResult.get()
  }
}

// SPDX-License-Identifier: Apache-2.0
import Glibc
import NIOCore
import Synchronization

/// A port that stays listened on while those who accept its connections change: meanwhile connections wait.
package final class KeptPort: Sendable {
  /// Another name of the socket.
  private let descriptor = Mutex<CInt?>(nil)

  package init() {}

  deinit { letGo() }

  /// From now on the port is kept by nobody but those who accept from it.
  package func letGo() { descriptor.withLock { $0.take().map { _ = close($0) } } }

  /// A descriptor for the next to accept from, which is theirs to close; `nil` if none is kept.
  func next() -> CInt? {
    descriptor.withLock { descriptor in
      let next = descriptor.map { fcntl($0, F_DUPFD_CLOEXEC, 0) } ?? -1
      return next >= 0 ? next : nil
    }
  }

  /// Keeps what a channel listens on, unless something is kept.
  func keep(_ listener: any Channel) -> EventLoopFuture<Void> {
    listener.eventLoop.submit {
      try listener.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { handle in
        self.descriptor.withLock { kept in
          let copy = kept == nil ? fcntl(handle, F_DUPFD_CLOEXEC, 0) : -1
          if copy >= 0 { kept = copy }
        }
      }
    }
  }
}

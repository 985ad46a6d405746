// SPDX-License-Identifier: Apache-2.0
import Glibc
import NIOCore
import Synchronization

/// A port that stays listened on while the acceptors of its connections change: meanwhile connections wait.
package final class KeptPort: Sendable {
  /// A duplicate descriptor of the socket.
  private let descriptor = Mutex<CInt?>(nil)

  package init() {}

  deinit { letGo() }

  /// Closes the duplicate: from now on only the acceptors keep the port.
  package func letGo() { descriptor.withLock { $0.take().map { _ = close($0) } } }

  /// A descriptor for the next acceptor, which closes it; `nil` if none is kept.
  func next() -> CInt? {
    descriptor.withLock { descriptor in
      let next = descriptor.map { fcntl($0, F_DUPFD_CLOEXEC, 0) } ?? -1
      return next >= 0 ? next : nil
    }
  }

  /// Keeps the socket that a channel listens on, unless one is kept.
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

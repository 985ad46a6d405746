// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Waiting on descriptors without polling: `poll` blocks a thread of its own, never one of the tests'.
package enum Waiting {
  /// Longer than anything takes on a busy machine, at the sizes of `HEARTH_FULL` too; a wait that ends because of it is
  /// a failure.
  package static let limit = Duration.seconds(isFull ? 900 : 120)

  /// Whether the tests whose size can be chosen are to take the full one.
  package static var isFull: Bool { getenv("HEARTH_FULL").map { String(cString: $0) } == "1" }

  /// - Returns: whether the descriptor became readable, or its other end was closed, before the deadline.
  package static func isReadable(_ descriptor: CInt, by deadline: ContinuousClock.Instant) async -> Bool {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        while true {
          let left = deadline - .now
          let milliseconds = max(0, Int(left / .milliseconds(1)))
          var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
          let count = poll(&entry, 1, CInt(milliseconds))
          if count < 0, errno == EINTR { continue }
          return continuation.resume(returning: count > 0)
        }
      }
    }
  }

  /// - Returns: the bytes that one `read` gives; empty at the end of the file or for a closed terminal.
  package static func read(_ descriptor: CInt) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return count > 0 ? Array(bytes[..<count]) : []
  }
}

/// A test's own reason to stop.
package struct Failure: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

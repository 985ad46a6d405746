// SPDX-License-Identifier: Apache-2.0
import Glibc
import TerminalCanvas

/// One-line messages for people, beside the output. They hold text of any origin (input files, servers, arguments), and
/// go to a terminal: nothing in them can move its cursor, reorder or hide text.
///
/// What cannot be written is lost: there is no place left to say so, and the work goes on.
enum StandardError {
  /// How long to wait for a reader that has fallen behind, in milliseconds; then the rest of the message is lost.
  private static let patience: Int32 = 1000

  static func write(_ line: String) { put(SafeText.sanitized(line) + "\n") }

  /// Writes text of our own as it is.
  static func put(_ text: String) {
    let bytes = Array(text.utf8)
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      if count > 0 {
        done += count
      } else if count < 0, errno == EAGAIN {
        var waiting = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&waiting, 1, patience) <= 0 { return }
      } else if count == 0 || errno != EINTR {
        return
      }
    }
  }
}

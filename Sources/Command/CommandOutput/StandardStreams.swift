// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Descriptors 0 to 2, which every part of a process takes for its standard streams.
package enum StandardStreams {
  /// Opens standard streams that the caller left closed, and turns a vanished reader into an error instead of a signal.
  ///
  /// Must be called before any file is opened: the file would get one of these numbers, and be read as input or
  /// overwritten with output. They lead to `/dev/null` in the wrong direction, so that using them is still an error.
  package static func reserve() {
    for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(descriptor, F_GETFD) < 0 {
      // Descriptors below are open, so that this one is the lowest free number.
      _ = open("/dev/null", mode)
    }
    signal(SIGPIPE, SIG_IGN)
  }
}

/// One-line messages for people, beside the output.
///
/// A message that cannot be written is lost: there is no place left to say so, and the work goes on.
package enum StandardError {
  /// The longest time to wait for a slow reader, in milliseconds; then the rest of the message is lost.
  private static let patience: Int32 = 1000

  package static func write(_ line: ShownText) { put(line + "\n") }

  /// The last remark about the data.
  private static let lastRemark = Mutex<String?>(nil)

  /// Reports a finding in the middle of a command.
  package static func remark(_ text: String) {
    lastRemark.withLock { $0 = text }
    write("hearth: \(text)")
  }

  /// Whether a failure repeats the last remark. Asking clears the remark, so that the next failure of a shell is
  /// reported.
  package static func hasSaid(_ failure: String) -> Bool {
    lastRemark.withLock { remark in
      defer { remark = nil }
      return remark.map(failure.hasSuffix) ?? false
    }
  }

  /// Writes a part of a line.
  package static func put(_ text: ShownText) {
    let bytes = Array(text.text.utf8)
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

/// The size of a terminal in cells.
package struct TerminalSize: Hashable, Sendable {
  package var columns: Int
  package var rows: Int

  package init(columns: Int, rows: Int) { (self.columns, self.rows) = (columns, rows) }

  /// - Returns: `nil` if the descriptor is no terminal, or one that does not know its size.
  package init?(of descriptor: Int32) {
    var size = winsize()
    guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    (columns, rows) = (Int(size.ws_col), Int(size.ws_row))
  }
}

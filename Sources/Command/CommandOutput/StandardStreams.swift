// SPDX-License-Identifier: Apache-2.0
package import FirestoreJSON
import FirestoreModel
import Glibc
import Synchronization

/// Descriptors 0 to 2, the standard streams of the process.
package enum StandardStreams {
  /// Opens the standard streams that the parent process closed. Also ignores SIGPIPE, so that a disconnected reader
  /// causes an error instead of a signal.
  ///
  /// Call this before you open any file. Otherwise a file could get one of these numbers, and be read as input or
  /// overwritten with output. The streams are opened as `/dev/null` in the wrong direction, so that using them is still
  /// an error.
  package static func reserve() {
    for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(descriptor, F_GETFD) < 0 {
      // All lower descriptors are open, so this is the lowest free number.
      _ = open("/dev/null", mode)
    }
    signal(SIGPIPE, SIG_IGN)
  }
}

/// One-line messages for people, separate from the output.
///
/// A message that cannot be written is lost, because there is nowhere else to report it. The command continues.
package enum StandardError {
  /// The maximum time to wait for a slow reader, in milliseconds. After this time, the rest of the message is dropped.
  private static let patience: Int32 = 1000

  package static func write(_ line: ShownText) {
    guard isJSON.load(ordering: .relaxed) else { return put(line + "\n") }
    let text = line.text.hasPrefix("hearth: ") ? String(line.text.dropFirst("hearth: ".count)) : line.text
    put(
      jsonLine([
        ("time", .string(Timestamp.now.rfc3339Text)), ("level", .string("warning")), ("message", .string(text)),
      ]))
  }

  private static let isJSON = Atomic(false)

  /// Writes each later message as a JSON object.
  package static func writesJSON() { isJSON.store(true, ordering: .relaxed) }

  /// A line that contains a JSON object.
  package static func jsonLine(_ members: [(String, JSONSyntax.Kind)]) -> ShownText {
    let object = JSONSyntax(.object(members.map { JSONSyntax.Member($0.0, JSONSyntax($0.1)) }))
    return ShownText(json: object.lineText) + "\n"
  }

  /// The text of the last warning. A failure with the same text is not printed again.
  private static let lastRemark = Mutex<String?>(nil)

  /// Reports a warning during a command.
  package static func remark(_ text: String) {
    lastRemark.withLock { $0 = text }
    write("hearth: \(text)")
  }

  /// Whether a failure has the same text as the last warning. Clears the stored warning, so that the next failure in a
  /// shell is reported.
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

  /// - Returns: `nil` if the descriptor is not a terminal, or the terminal does not report its size.
  package init?(of descriptor: Int32) {
    var size = winsize()
    guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    (columns, rows) = (Int(size.ws_col), Int(size.ws_row))
  }
}

// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Descriptors 0 to 2, which every part of a process takes for its standard streams.
enum StandardStreams {
  /// Opens those that the caller left closed, and lets a reader that goes away be an error instead of a signal.
  ///
  /// To be called before anything opens a file: the file would get one of these numbers, and be read as input or
  /// written over with output. They lead to `/dev/null` the wrong way round, so that using them is still an error.
  static func reserve() {
    for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one, since those below it are open.
      _ = open("/dev/null", mode)
    }
    signal(SIGPIPE, SIG_IGN)
  }
}

/// Descriptor 0 as a command's data.
enum StandardInput {
  /// - Throws: in a shell that reads its commands there.
  static func check() throws(CommandFailure) {
    guard Surroundings.current.readsCommands else { return }
    throw CommandFailure(.usage, "standard input holds the shell's commands; name a file in place of -.")
  }
}

/// One-line messages for people, beside the output.
///
/// What cannot be written is lost: there is no place left to say so, and the work goes on.
enum StandardError {
  /// How long to wait for a reader that has fallen behind, in milliseconds; then the rest of the message is lost.
  private static let patience: Int32 = 1000

  static func write(_ line: ShownText) { put(line + "\n") }

  /// What was said last of data as it was met.
  private static let lastRemark = Mutex<String?>(nil)

  /// Says what was found out in the middle of a command.
  static func remark(_ text: String) {
    lastRemark.withLock { $0 = text }
    write("hearth: \(text)")
  }

  /// Whether a failure is what was remarked just before. Asked once: the next failure of a shell is told.
  static func hasSaid(_ failure: String) -> Bool {
    lastRemark.withLock { remark in
      defer { remark = nil }
      return remark.map(failure.hasSuffix) ?? false
    }
  }

  /// Writes a part of a line.
  static func put(_ text: ShownText) {
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

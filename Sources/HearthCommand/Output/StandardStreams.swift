// SPDX-License-Identifier: Apache-2.0
import Glibc

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

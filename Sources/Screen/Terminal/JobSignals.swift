// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The signals by which the kernel stops a job that touches a terminal while it is the shell's: one that was stopped and
/// then continued in the background.
enum JobSignals {
  /// Runs calls on a terminal as they run in a process of one thread: in the background it stops, and they happen when
  /// it has the terminal again.
  ///
  /// The threads of dispatch queues block these signals. There modes would be set on the shell's terminal, and reading
  /// would fail as if the terminal were gone.
  static func heard<Result>(_ body: () -> Result) -> Result {
    var (signals, before) = (sigset_t(), sigset_t())
    sigemptyset(&signals)
    sigaddset(&signals, SIGTTIN)
    sigaddset(&signals, SIGTTOU)
    pthread_sigmask(SIG_UNBLOCK, &signals, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return body()
  }
}

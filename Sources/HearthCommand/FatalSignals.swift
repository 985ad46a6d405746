// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Signals that mean a mistake in the program, or a user who wants it to end with a core dump.
enum FatalSignals {
  private static let all = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT]

  /// Gives them their default action back, which ends the process at once.
  ///
  /// Swift's runtime answers them with a backtrace that takes a minute for a program of this size, and on a terminal
  /// waits for a key: a service would neither run nor be restarted. Whoever sets `SWIFT_BACKTRACE` wants that. The
  /// dashboard's handlers come after this, bring the terminal back, and then let the default action happen.
  static func takeDefaultActions(environment: [String: String]) {
    guard environment["SWIFT_BACKTRACE"] == nil else { return }
    for number in all {
      var current = sigaction()
      sigaction(number, nil, &current)
      // One that the caller ignores stays ignored.
      if unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) == 1 { continue }
      signal(number, SIG_DFL)
    }
  }
}

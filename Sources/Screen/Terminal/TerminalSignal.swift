// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A message of the system about the program's terminal or its end.
package enum TerminalSignal: Hashable, Sendable {
  /// SIGWINCH: ask the screen for its size.
  case resized
  /// SIGTSTP from elsewhere: suspend.
  case stopRequested
  /// SIGCONT: take the terminal back.
  case continued
  /// SIGTERM, SIGINT or SIGQUIT: restore the terminal and exit with `exitCode`.
  case terminated(by: CInt)
  /// The terminal is gone: exit with `exitCode` and do not write to it.
  case hungUp

  /// 128 plus the signal's number, as shells report it; `nil` for signals that do not end the program.
  package var exitCode: CInt? {
    switch self {
    case .resized, .stopRequested, .continued: nil
    case .terminated(let signal): 128 + signal
    case .hungUp: 128 + SIGHUP
    }
  }

  init?(number: CInt) {
    switch number {
    case SIGWINCH: self = .resized
    case SIGTSTP: self = .stopRequested
    case SIGCONT: self = .continued
    case SIGHUP: self = .hungUp
    case SIGTERM, SIGINT, SIGQUIT: self = .terminated(by: number)
    default: return nil
    }
  }

  static let watched = [SIGWINCH, SIGTSTP, SIGCONT, SIGHUP, SIGTERM, SIGINT, SIGQUIT]

  /// Whether the terminal's driver sends the signal for a key, and so to a child program that has the terminal.
  var isFromKeyboard: Bool {
    switch self {
    case .stopRequested, .terminated(by: SIGINT), .terminated(by: SIGQUIT): true
    default: false
    }
  }
}

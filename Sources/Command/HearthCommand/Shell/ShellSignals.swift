// SPDX-License-Identifier: Apache-2.0
import Glibc
import Terminal

/// The handling of signals in a shell.
struct ShellSignals {
  /// A pipe that reports a new size of the terminal, and that the process was continued; `LineTerminal` reads it.
  let wakeUp: CInt

  /// - Parameter isInteractive: whether an interruption leaves the shell running when no command runs.
  init(_ surroundings: ShellSurroundings, isInteractive: Bool) {
    var ends: [CInt] = [-1, -1]
    _ = pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    wakeUp = ends[0]
    let writing = ends[1]
    let stops = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
    SignalWatch.begin(stops + (isInteractive ? [SIGWINCH, SIGCONT] : [])) { number in
      switch number {
      case SIGWINCH, SIGCONT:
        var byte: UInt8 = number == SIGWINCH ? 1 : 2
        _ = write(writing, &byte, 1)
      case SIGINT: if !surroundings.interrupt(number), !isInteractive { exit(128 + number) }
      default: exit(128 + number)
      }
    }
  }

  static func isIgnored(_ number: CInt) -> Bool {
    var action = sigaction()
    return sigaction(number, nil, &action) == 0
      && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}

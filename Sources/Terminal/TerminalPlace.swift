// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whose a terminal is among the jobs of a shell.
enum TerminalPlace {
  /// Whether this process runs while its terminal is the shell's, or another job's: it was stopped and continued behind
  /// the shell's back. The kernel would stop it when it touches the terminal, but not in threads that block its signal,
  /// as those of dispatch queues do; there reading fails as if the terminal were gone.
  static func isBackground(_ descriptor: CInt) -> Bool {
    let group = tcgetpgrp(descriptor)
    return group > 0 && group != getpgrp()
  }

  /// Whether somebody is there to bring this process to the foreground again: a parent in the same session that leads
  /// another group.
  static var hasShell: Bool {
    let parent = getppid()
    return getsid(parent) == getsid(0) && getpgid(parent) != getpgrp()
  }
}

// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Foundation
import Glibc

/// A program of the system that has the terminal, or the streams, of the shell while it runs.
enum SystemCommand {
  /// - Parameter text: for the system's shell; empty for a shell to type in.
  /// - Returns: the exit status, or 128 plus the number of the signal that ended it.
  static func run(_ text: String) throws(CommandFailure) -> Int32 {
    let shell = ProcessInfo.processInfo.environment["SHELL"] ?? "/bin/sh"
    return try run(text.isEmpty ? [shell] : ["/bin/sh", "-c", text])
  }

  static func run(_ words: [String]) throws(CommandFailure) -> Int32 { wait(for: try start(words)) }

  /// - Parameter input: the descriptor of its standard input; `nil` for this process's own.
  static func start(_ words: [String], input: CInt? = nil) throws(CommandFailure) -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, defaults) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigemptyset(&defaults)
    for number in [SIGPIPE, SIGTSTP, SIGINT, SIGQUIT] { sigaddset(&defaults, number) }
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    var process: pid_t = 0
    let code = posix_spawn(&process, words[0], &actions, &attributes, &pointers, environ)
    guard code == 0 else {
      throw CommandFailure(.failure, "\(words[0]) cannot be run: \(String(cString: strerror(code))).")
    }
    return process
  }

  /// - Returns: the exit status, as above.
  static func wait(for process: pid_t) -> Int32 {
    var status: CInt = 0
    while waitpid(process, &status, 0) != process { if errno != EINTR { return 127 } }
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
  }
}

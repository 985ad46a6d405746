// SPDX-License-Identifier: Apache-2.0

import CNcurses
import CTerminalRestore
import Dispatch
import Glibc

/// A program such as `$EDITOR` that owns the terminal while it runs. Use it inside `Screen.withSuspendedScreen`.
package struct ForegroundProgram: Sendable {
  package let arguments: [String]

  /// - Parameter arguments: the program, found through `PATH`, and its arguments.
  package init(_ arguments: [String]) { self.arguments = arguments }

  /// Runs the program until it ends, with the terminal as its standard input and output. When the program stops, this
  /// process group stops too, so that the shell's job control works.
  ///
  /// - Parameters:
  ///   - beforeStop: awaited before this process stops.
  ///   - afterStop: called when this process continues.
  /// - Returns: the program's exit status, or 128 plus the number of the signal that ended the program.
  /// - Throws: `system` if the program cannot be started.
  package func run(
    on terminal: CInt, beforeStop: @escaping @Sendable () async -> Void = {},
    afterStop: @escaping @Sendable () -> Void = {}
  ) async throws(TerminalError) -> CInt {
    let process = try spawn(on: terminal)
    while true {
      let status = await withCheckedContinuation { continuation in
        // Waiting blocks a thread; the main actor must stay free for signals.
        DispatchQueue.global().async { continuation.resume(returning: Self.status(of: process)) }
      }
      guard let status else {
        await beforeStop()
        await Self.stop()
        afterStop()
        continue
      }
      return status
    }
  }

  /// Stops this process group. Returns when the group is continued.
  private static func stop() async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        ctr_stop_group()
        continuation.resume()
      }
    }
  }

  private func spawn(on terminal: CInt) throws(TerminalError) -> pid_t {
    guard let program = arguments.first, !program.isEmpty else {
      throw TerminalError(.system, "no program to run: set EDITOR")
    }
    // The screen's descriptor is non-blocking, which programs do not expect of their input.
    guard let path = ttyname(terminal).map({ String(cString: $0) }) else {
      throw TerminalError(.system, "the terminal has no device name")
    }
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, path, O_RDWR | O_NOCTTY, 0)
    posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    // This process ignores SIGPIPE, but programs expect the signal to end them when their output is no longer read.
    var defaults = sigset_t()
    sigemptyset(&defaults)
    sigaddset(&defaults, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { pointers.forEach { free($0) } }
    var process: pid_t = 0
    let code = posix_spawnp(&process, program, &actions, &attributes, &pointers, cn_environment())
    guard code == 0 else {
      throw TerminalError(.system, "cannot run \(program): \(String(cString: strerror(code)))")
    }
    return process
  }

  /// Waits until a process ends or stops.
  /// - Returns: `nil` if the process has stopped.
  private static func status(of process: pid_t) -> CInt? {
    var status: CInt = 0
    while waitpid(process, &status, WUNTRACED) != process {
      if errno != EINTR { return 127 }
    }
    // The macros of <sys/wait.h>, which Swift does not import.
    if status & 0xFF == 0x7F { return nil }
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
  }
}

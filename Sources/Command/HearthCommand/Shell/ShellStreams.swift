// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Foundation
import Glibc

/// Reads standard input line by line.
struct InputLines {
  private var buffer: [UInt8] = []
  private var isAtEnd = false
  /// The reason why reading stopped before the end of the input; `nil` if there is none.
  private(set) var problem: String?

  mutating func next() -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = buffer[..<end]
        defer { buffer.removeSubrange(...end) }
        return text(line)
      }
      if isAtEnd {
        defer { buffer = [] }
        return buffer.isEmpty ? nil : text(buffer[...])
      }
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = read(STDIN_FILENO, &bytes, bytes.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { isAtEnd = true } else { buffer += bytes[..<count] }
    }
  }

  private mutating func text(_ line: ArraySlice<UInt8>) -> String? {
    var line = line
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard let text = String(validating: line, as: UTF8.self) else {
      problem = "is not UTF-8 text."
      return nil
    }
    return text
  }
}

/// A file that replaces standard output while a command runs.
final class ShellOutput {
  private let file: CInt
  private let usual: CInt

  init(_ path: String) throws(CommandFailure) {
    file = open(UserPath.absolute(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard file >= 0 else {
      throw CommandFailure(.cannotCreate, "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
    usual = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
  }

  deinit {
    close(file)
    close(usual)
  }

  func begin() throws(CommandFailure) {
    guard dup2(file, STDOUT_FILENO) >= 0 else {
      throw CommandFailure(.cannotCreate, "the output cannot be redirected: \(String(cString: strerror(errno))).")
    }
  }

  func end() { dup2(usual, STDOUT_FILENO) }
}

/// A system command that receives the output of a command.
final class ShellPipe {
  private let usual: CInt
  private let process: pid_t

  /// Starts the system command and redirects standard output to it.
  init(_ text: String) throws(CommandFailure) {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else {
      throw CommandFailure(.failure, "no pipe can be opened to \(text): \(String(cString: strerror(errno))).")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { for end in ends { close(end) } }
    process = try SystemCommand.start(["/bin/sh", "-c", text], input: ends[0])
    usual = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
    dup2(ends[1], STDOUT_FILENO)
  }

  /// Restores standard output, and waits until the system command has read everything.
  func end() {
    dup2(usual, STDOUT_FILENO)
    close(usual)
    _ = SystemCommand.wait(for: process)
  }
}

/// A system program that uses the shell's terminal or streams while it runs.
enum SystemCommand {
  /// - Parameter text: the text for the system's shell; empty for an interactive shell.
  /// - Returns: the exit status, or 128 plus the number of the signal that ended the program.
  static func run(_ text: String) throws(CommandFailure) -> Int32 {
    let shell = ProcessInfo.processInfo.environment["SHELL"] ?? "/bin/sh"
    return try run(text.isEmpty ? [shell] : ["/bin/sh", "-c", text])
  }

  static func run(_ words: [String]) throws(CommandFailure) -> Int32 { wait(for: try start(words)) }

  /// - Parameter input: the descriptor for the program's standard input; `nil` for this process's own input.
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

  /// - Returns: the exit status, or 128 plus the number of the signal that ended the process.
  static func wait(for process: pid_t) -> Int32 {
    var status: CInt = 0
    while waitpid(process, &status, 0) != process { if errno != EINTR { return 127 } }
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
  }
}

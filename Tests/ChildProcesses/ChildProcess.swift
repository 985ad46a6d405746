// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// A process that this test started. It is killed when the value goes.
package final class ChildProcess {
  package enum Streams {
    /// Standard input and output on pipes of ours.
    case pipes
    /// All three on a terminal, which becomes the process's controlling terminal.
    case terminal(path: String)
  }

  package let id: pid_t
  /// Writes to standard input; closed by `closeInput`.
  package private(set) var input: CInt = -1
  package private(set) var output: CInt = -1
  package private(set) var errors: CInt = -1
  /// Readable when the process, and all that it started, are gone.
  private let life: CInt
  private var status: CInt?

  /// - Parameter arguments: the program, found through `PATH`, and what it is given.
  package init(_ arguments: [String], environment: [String: String], streams: Streams) throws {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    let lifeline = try Self.pipe()
    life = lifeline.read
    var ours: [CInt] = [lifeline.write]
    switch streams {
    case .pipes:
      let (input, output, errors) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
      posix_spawn_file_actions_adddup2(&actions, input.read, STDIN_FILENO)
      posix_spawn_file_actions_adddup2(&actions, output.write, STDOUT_FILENO)
      posix_spawn_file_actions_adddup2(&actions, errors.write, STDERR_FILENO)
      (self.input, self.output, self.errors) = (input.write, output.read, errors.read)
      ours += [input.read, output.write, errors.write]
    case .terminal(let path):
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, path, O_RDWR, 0)
      posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
      posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO)
    }
    // Far above the descriptors that programs open, so that it is theirs without their knowing. After the others, one
    // of which may have this number here.
    posix_spawn_file_actions_adddup2(&actions, lifeline.write, Self.lifelineEnd)
    // Not every socket of this process is closed by itself: a child that held one would keep its port in use.
    for descriptor in CInt(3)..<1_024 where descriptor != Self.lifelineEnd {
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    // A session of its own: the first terminal it opens is its controlling terminal.
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | Self.setsid)
    var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer {
      argv.forEach { free($0) }
      envp.forEach { free($0) }
    }
    var id: pid_t = 0
    let code = posix_spawnp(&id, arguments[0], &actions, &attributes, &argv, &envp)
    ours.forEach { close($0) }
    self.id = id
    guard code == 0 else { throw Failure("cannot start \(arguments[0]): \(String(cString: strerror(code)))") }
  }

  deinit {
    if status == nil {
      kill(-id, SIGKILL)
      kill(id, SIGKILL)
      var status: CInt = 0
      waitpid(id, &status, 0)
    }
    for descriptor in [input, output, errors, life] where descriptor >= 0 { close(descriptor) }
  }

  package func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  package func write(_ text: String) {
    let bytes = Array(text.utf8)
    var done = 0
    while done < bytes.count {
      // A process that has ended reads no more, which must not end this one.
      let count = bytes[done...].withUnsafeBytes { send(input, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      if count < 0 { return }
      done += count
    }
  }

  package var hasEnded: Bool { get async { await Waiting.isReadable(life, by: .now) } }

  /// Waits for the end.
  /// - Returns: the exit status, or 128 plus the number of the signal that ended it.
  package func exitStatus(within limit: Duration = Waiting.limit) async throws -> CInt {
    guard await Waiting.isReadable(life, by: .now + limit) else {
      throw Failure("process \(id) did not end within \(limit)")
    }
    var status: CInt = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    self.status = status
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
  }

  /// Everything that the process says on a pipe until it closes it.
  package static func all(_ descriptor: CInt) async throws -> String {
    var bytes: [UInt8] = []
    let deadline = ContinuousClock.now + Waiting.limit
    while true {
      guard await Waiting.isReadable(descriptor, by: deadline) else { throw Failure("the output has no end") }
      let more = Waiting.read(descriptor)
      if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
      bytes += more
    }
  }

  private static let lifelineEnd: CInt = 200
  /// `POSIX_SPAWN_SETSID` of <spawn.h>, which Swift does not import.
  private static let setsid: Int16 = 0x80

  /// A pair of sockets serves as a pipe, because no other process can inherit it between its making and a flag.
  private static func pipe() throws -> (read: CInt, write: CInt) {
    var ends: [CInt] = [-1, -1]
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failure("no pipe") }
    return (ends[0], ends[1])
  }
}

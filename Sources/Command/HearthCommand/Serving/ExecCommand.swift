// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import FirestoreAccess
import FirestoreJSON
import Foundation
import Glibc
import Synchronization

/// `hearth exec`: runs a server as long as a command runs.
struct ExecCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exec", abstract: "Serve a database while a command runs, such as a test suite.",
    usage: "hearth exec [<options of hearth serve>] -- <command> ...",
    discussion: """
      Starts hearth serve on a free port with an empty database in memory, waits until it accepts connections, and \
      runs the command. The exit status is the command's status (128 plus the signal number if a signal ended it). \
      --port, --data, --rules, --import-data, --export-on-exit and the other options are the options of hearth serve. \
      firebase.json supplies rules, port and project.

      The environment of the command has FIRESTORE_EMULATOR_HOST, GCLOUD_PROJECT and GOOGLE_CLOUD_PROJECT, and for the \
      Web SDK __FIREBASE_DEFAULTS__. The project is --project, else the project of .firebaserc or of the environment, \
      else demo-hearth. SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are forwarded to the command. SIGINT and SIGQUIT are \
      forwarded too, unless the terminal has sent them to both processes.

      With rules, a line on standard error after the command counts the evaluated expressions and lists the places of \
      expressions that were not evaluated. If the command loads rules into the project, the line describes the rules \
      loaded last.

      --ui opens the dashboard until you quit it. The command gets no input, and its output is printed afterwards. \
      Without a terminal --ui has no effect.

      Example: hearth exec --rules firestore.rules -- npm test
      """)

  @OptionGroup var options: ServeOptions

  @Flag(name: .shortAndLong, help: "Do not print the address of the server and the coverage of rules.")
  var quiet = false

  @Flag(
    help: "Open the dashboard on the server. The command's output is printed after you quit the dashboard.")
  var ui = false

  @Argument(parsing: .postTerminator, help: "The command and its arguments.")
  var command: [String] = []

  func validate() throws {
    if command.isEmpty {
      throw ValidationError("exec needs a command after --, as in hearth exec -- npm test.")
    }
  }

  mutating func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    let inherited = ["GCLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    let files = OpenFiles()
    let child = ForwardingChild()
    let screen = try ui ? ExecScreen.onTerminal() : nil
    var options = options
    // SDKs, imports and exports need a project.
    let named = try FirebaseProject.read(options.config)?.project(options.emulator.projectID)
    let project = named ?? options.emulator.projectID ?? inherited ?? "demo-hearth"
    options.emulator.projectID = project
    let run = try ServeRun(options, usualPort: 0)
    let stop = StopSignal {}
    let signals = await HeardSignals(child.heard) {
      child.send($0)
      screen?.dashboard.send($0)
    }
    defer { signals.cancel() }
    let (started, continuation) = AsyncStream.makeStream(of: ServedAddress.self)
    let (command, isQuiet, data) = (command, quiet, run.data)
    let status = try await withThrowingTaskGroup(of: Int32?.self) { group in
      group.addTask {
        defer { continuation.finish() }
        try await run.run(until: stop) {
          continuation.yield($0)
        } ended: { rules in
          if isQuiet { return }
          for line in rules.coverageLines(of: project) { StandardError.write("hearth: \(line)") }
        }
        return nil
      }
      group.addTask {
        for await address in started {
          defer { stop.stop() }
          if !isQuiet { StandardError.write("hearth: Serving \(project) on \(address.local). \(data.text)") }
          let variables = CommandEnvironment.of(project, at: address.local, in: environment)
          guard let screen else { return try await child.run(command, variables, closing: files.opened()) }
          let words = ["--emulator", address.local, "--project", project, "--in-memory"]
          return try await screen.run(child, command, variables, dashboard: words, environment, closing: files.opened())
        }
        return nil
      }
      return try await group.reduce(nil) { $0 ?? $1 }
    }
    if let status, status != 0 { throw ExitCode(status) }
  }
}

/// The dashboard of `hearth exec --ui`. While it uses the terminal, the output of the command and of this process is
/// written to a file.
struct ExecScreen: Sendable {
  let dashboard = ForwardingChild()
  /// The descriptor of the file for the output.
  private let log: CInt
  private let path: String
  /// A copy of the standard error that this process had at the start.
  private let errors: CInt

  /// - Returns: `nil` if there is no terminal. A message then says so.
  /// - Throws: `cannotCreate` if the temporary folder is not writable.
  static func onTerminal() throws(CommandFailure) -> ExecScreen? {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
      StandardError.write("hearth: --ui needs a terminal, so the command runs without the dashboard.")
      return nil
    }
    return try ExecScreen()
  }

  private init() throws(CommandFailure) {
    let folder = FileManager.default.temporaryDirectory
    var name = folder.appending(path: "hearth-exec-XXXXXX").path.utf8CString.map { $0 }
    log = mkstemp(&name)
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard log >= 0 else {
      throw CommandFailure(.cannotCreate, "\(path) cannot be created: \(String(cString: strerror(errno))).")
    }
    _ = fcntl(log, F_SETFD, FD_CLOEXEC)
    errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
  }

  /// Runs the command and the dashboard, and prints the output of the command when both have ended.
  /// - Parameter options: the options of the dashboard.
  /// - Returns: the exit status of the command.
  func run(
    _ child: ForwardingChild, _ command: [String], _ variables: [String: String], dashboard options: [String],
    _ environment: [String: String], closing files: [CInt]
  ) async throws -> Int32 {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "hearth"
    // Otherwise messages of the server would appear on top of the dashboard.
    dup2(log, STDERR_FILENO)
    async let status = child.run(command, variables, closing: files, output: log)
    do {
      _ = try await dashboard.run([program] + options, environment, closing: files, errors: errors)
    } catch {
      // The command continues without the dashboard.
      dup2(errors, STDERR_FILENO)
      StandardError.write("hearth: The dashboard cannot be opened: \(error)")
    }
    dup2(errors, STDERR_FILENO)
    if child.isRunning {
      StandardError.write("hearth: Waiting for \(command[0]) to exit. Its output so far is in \(path).")
    }
    let result = try await status
    printLog()
    return result
  }

  /// Prints the command's output unchanged, and deletes the file.
  private func printLog() {
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      while let bytes = try file.read(upToCount: 1 << 16), !bytes.isEmpty {
        // A closed output does not change the status of the command.
        guard (try? FileHandle.standardOutput.write(contentsOf: bytes)) != nil else { break }
      }
      unlink(path)
    } catch {
      StandardError.write("hearth: Cannot read the command's output in \(path): \(error)")
    }
  }
}

/// Sets the environment variables with which SDKs find a server.
enum CommandEnvironment {
  static func of(_ project: String, at address: String, in environment: [String: String]) -> [String: String] {
    var environment = environment
    environment["FIRESTORE_EMULATOR_HOST"] = address
    environment["GCLOUD_PROJECT"] = project
    environment["GOOGLE_CLOUD_PROJECT"] = project
    environment[defaults] = webDefaults(project, at: address, over: environment[defaults])
    return environment
  }

  /// The variable that contains an app's settings for the Web SDK (`getDefaultsFromEnvVariable` in `@firebase/util`).
  static let defaults = "__FIREBASE_DEFAULTS__"

  /// - Parameter known: the previous value of the variable. Its other members remain.
  private static func webDefaults(_ project: String, at address: String, over known: String?) -> String {
    // A value that is not JSON has no members to keep.
    let json = known.flatMap { try? JSONSyntax(parsing: $0) } ?? JSONSyntax(.object([]))
    let result = json.setting("projectId", in: "config", to: project).setting(
      "firestore", in: "emulatorHosts", to: address)
    return result.lineText
  }
}

extension JSONSyntax {
  /// A copy of this JSON object in which the string member `name` of its member `object` is set to `text`. If the
  /// member `object` is missing or is not a JSON object, a new JSON object replaces it.
  fileprivate func setting(_ name: String, in object: String, to text: String) -> JSONSyntax {
    func members(_ syntax: JSONSyntax?) -> [Member] {
      if case .object(let members)? = syntax?.kind { members } else { [] }
    }
    let inner = members(self[object]).filter { $0.name != name } + [Member(name, JSONSyntax(.string(text)))]
    let outer = members(self).filter { $0.name != object } + [Member(object, JSONSyntax(.object(inner)))]
    return JSONSyntax(.object(outer))
  }
}

/// Records which files are open at a point in time. With this, files that this process opens later can be found.
struct OpenFiles {
  private let known: Set<CInt>

  init() { known = Self.all }

  func opened() -> [CInt] { Self.all.subtracting(known).sorted() }

  private static var all: Set<CInt> {
    // The result is empty on a system without this folder. The descriptor of the listing itself is closed by now.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return Set(names.compactMap { CInt($0) }.filter { $0 > STDERR_FILENO && fcntl($0, F_GETFD) >= 0 })
  }
}

/// A child process to which the signals of this process are forwarded.
final class ForwardingChild: Sendable {
  private enum State {
    case waiting
    case running(pid_t)
    /// A signal arrived before the command was started.
    case stopped(Int32)
    case ended
  }

  /// The signals that are forwarded. Signals that this process ignores from its start are not included.
  let heard: [Int32]
  /// The signals whose default action is restored in the command.
  private let restored: [Int32]
  private let state = Mutex(State.waiting)
  private let queue = DispatchQueue(label: "hearth.command")

  init() {
    heard = [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2].filter { !ShellSignals.isIgnored($0) }
    restored = heard + (ShellSignals.isIgnored(SIGTSTP) ? [SIGPIPE] : [SIGPIPE, SIGTSTP])
  }

  /// Forwards a signal to the command.
  func send(_ number: Int32) {
    state.withLock { state in
      switch state {
      case .waiting: state = .stopped(number)
      case .running(let process): if !Self.isFromTerminal(number) { kill(process, number) }
      case .stopped, .ended: break
      }
    }
  }

  /// Whether the terminal sends the signal to both this process and the command.
  private static func isFromTerminal(_ number: Int32) -> Bool {
    guard number == SIGINT || number == SIGQUIT else { return false }
    let terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp()
  }

  var isRunning: Bool { state.withLock { if case .running = $0 { true } else { false } } }

  /// Runs the command until it ends.
  /// - Parameters:
  ///   - files: the descriptors of this process that are closed in the command.
  ///   - output: the file for the command's standard output and standard error. The command then has no input. With
  ///     `nil`, the command inherits all three.
  ///   - errors: a separate file for standard error; `nil` to treat it like standard output.
  /// - Returns: the exit status, or 128 plus the number of the signal that ended the command. As in a shell, 127 and
  ///   126 mean that it could not be started.
  func run(
    _ words: [String], _ environment: [String: String], closing files: [CInt], output: CInt? = nil, errors: CInt? = nil
  ) async throws -> Int32 {
    let begun: Result<pid_t, StartFailure> = state.withLock { state in
      if case .stopped(let number) = state { return .failure(StartFailure(status: 128 + number)) }
      let result = start(words, environment, closing: files, output, errors)
      if case .success(let process) = result { state = .running(process) }
      return result
    }
    switch begun {
    case .success(let process):
      return await withCheckedContinuation { continuation in
        queue.async { continuation.resume(returning: self.wait(for: process)) }
      }
    case .failure(let failure):
      if let reason = failure.reason {
        StandardError.write("hearth: \(words[0]) cannot be run: \(reason). Check the command after --.")
      }
      return failure.status
    }
  }

  private struct StartFailure: Error {
    var status: Int32
    var reason: String?
  }

  private func start(
    _ words: [String], _ environment: [String: String], closing files: [CInt], _ output: CInt?, _ errors: CInt?
  ) -> Result<pid_t, StartFailure> {
    var attributes = posix_spawnattr_t()
    var actions = posix_spawn_file_actions_t()
    posix_spawnattr_init(&attributes)
    posix_spawn_file_actions_init(&actions)
    defer {
      posix_spawnattr_destroy(&attributes)
      posix_spawn_file_actions_destroy(&actions)
    }
    var (none, defaults) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigemptyset(&defaults)
    for number in restored { sigaddset(&defaults, number) }
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    if let output {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    }
    if let errors = errors ?? output { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
    for file in files { posix_spawn_file_actions_addclose(&actions, file) }
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for pointer in arguments + variables { free(pointer) } }
    var process: pid_t = 0
    let code = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &variables)
    if code == 0 { return .success(process) }
    return .failure(StartFailure(status: code == ENOENT ? 127 : 126, reason: String(cString: strerror(code))))
  }

  private func wait(for process: pid_t) -> Int32 {
    // Waits without releasing the process number, so that no signal can reach another process with the same number.
    var information = siginfo_t()
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    state.withLock { $0 = .ended }
    return SystemCommand.wait(for: process)
  }
}

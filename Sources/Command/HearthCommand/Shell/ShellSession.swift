// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import CommandTransfer
import DashboardHost
import FirestoreModel
import FirestoreText
import Foundation
import Glibc
import SerialExecutors

/// A running `hearth shell`. It runs commands one after the other in this process. The connections remain open between
/// commands.
///
/// The actor waits for keys on its own queue. Commands run on other threads, as in a separate process.
actor ShellSession {
  /// The source of a command, for messages.
  enum Source: Hashable, Sendable {
    case typed
    /// The option `--command`.
    case argument
    /// Standard input. The command starts at this line.
    case input(line: Int)
    case file(String)

    func place(_ line: Int) -> String {
      switch self {
      case .typed, .argument: ""
      case .input(let first): "line \(first + line - 1): "
      case .file(let name): "\(name):\(line): "
      }
    }
  }

  struct Options: Sendable {
    var storage: StorageOptions
    var isReadOnly = false
    var keepsGoing = false
    var isQuiet = false
    var paths: Paths
  }

  private nonisolated let executor = QueueExecutor(label: "hearth.shell")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  let options: Options
  let surroundings: ShellSurroundings
  var isTiming = false
  /// Whether `\q` was entered.
  private(set) var isEnding = false
  /// Whether the reader of the output has disconnected.
  private(set) var hasLostReader = false
  /// The file to which `\o` redirects the output of commands; `nil` for standard output.
  private var output: ShellOutput?
  /// The current nesting depth of `\i` files.
  private var depth = 0
  var history: ShellHistory?
  /// The text that was run last. `\e` edits it.
  var lastText = ""
  /// The command that was run last. It can be repeated.
  private(set) var lastCommand: ShellText.Statement?
  /// The storage options before the last `\c`.
  var lastStorage: StorageOptions?

  /// - Parameters:
  ///   - readsCommands: whether commands are read from standard input.
  ///   - isTyped: whether a user types the commands. If so, each write is reported.
  init(_ options: Options, readsCommands: Bool, isTyped: Bool = false) {
    self.options = options
    surroundings = ShellSurroundings(
      options.storage, isReadOnly: options.isReadOnly, readsCommands: readsCommands,
      tellsWrites: isTyped && !options.isQuiet)
  }

  func end() { isEnding = true }

  // MARK: Texts of commands

  /// Runs the commands in a text. Stops at the first failure, unless the options say to continue.
  /// - Returns: the exit status of the first failed command, otherwise 0.
  func run(_ text: String, from source: Source) async -> Int32 {
    if case .file = source {} else if !text.trimming().hasPrefix("\\") { lastText = text }
    let statements: [ShellText.Statement]
    do throws(ShellText.Failure) {
      statements = try ShellText.statements(in: text)
    } catch {
      StandardError.write("hearth: \(source.place(error.line))\(error.reason)")
      return ExitStatus.usage.rawValue
    }
    var first: Int32 = 0
    for statement in statements {
      let status = await run(statement, at: source.place(statement.line))
      if first == 0 { first = status }
      let isInterrupted = status == 128 + SIGINT
      if isEnding || hasLostReader || isInterrupted || (status != 0 && !(options.keepsGoing && source != .typed)) {
        break
      }
    }
    return first
  }

  private func run(_ statement: ShellText.Statement, at place: String) async -> Int32 {
    switch statement {
    case .backslash(let name, let rest, _): return await run(backslash: name, rest, at: place)
    case .command(let words, _):
      if words.count == 1, ["exit", "quit", ".exit", ".quit"].contains(words[0]) {
        end()
        return 0
      }
      if words == ["help"] || words == ["?"] { return await run(backslash: "?", "", at: place) }
      lastCommand = statement
      return await run(words, at: place)
    case .piped(let words, let text, _):
      lastCommand = statement
      return await run(words, into: text, at: place)
    }
  }

  /// Runs the last command again.
  func runAgain(at place: String) async -> Int32 {
    switch lastCommand {
    case .command(let words, _)?: await run(words, at: place)
    case .piped(let words, let text, _)?: await run(words, into: text, at: place)
    case .backslash?, nil: 0
    }
  }

  /// Runs one command and reports its failure.
  /// - Parameters:
  ///   - pipe: a system command that receives the output.
  ///   - file: the output file; `nil` for the file of `\o`, otherwise standard output.
  func run(
    _ words: [String], into pipe: String? = nil, to file: ShellOutput? = nil, at place: String
  ) async -> Int32 {
    let start = ContinuousClock.now
    let status: Int32
    do {
      if let refusal = Self.refusal(of: words) { throw refusal }
      try await redirected(into: pipe, to: file) {
        try await self.surroundings.run { try await CommandRun.perform(words) }
      }
      // An interruption can be a command's normal end, such as for a watch.
      status = surroundings.wasInterrupted ? 128 + SIGINT : 0
    } catch is OutputFile.ClosedPipe {
      // The reader has disconnected. If it was a command after `|`, later output still has its reader.
      if pipe == nil { hasLostReader = true }
      return 0
    } catch is CancellationError {
      status = 128 + SIGINT
    } catch let error as RPCStatus where error.code == .cancelled {
      status = 128 + SIGINT
    } catch {
      status = CommandRun.report(error, at: place, arguments: words)
    }
    if isTiming { StandardError.write("Time: \(Self.milliseconds(.now - start)) ms") }
    return status
  }

  private func redirected(
    into pipe: String?, to file: ShellOutput?, _ work: @Sendable () async throws -> Void
  ) async throws {
    if let pipe {
      let reader = try ShellPipe(pipe)
      defer { reader.end() }
      return try await work()
    }
    let output = file ?? output
    try output?.begin()
    defer { output?.end() }
    try await work()
  }

  /// The failure for a command that cannot be used in a shell.
  private static func refusal(of words: [String]) -> CommandFailure? {
    guard let name = words.first else { return nil }
    if let meant = BackslashCommand.meant(by: words) {
      return CommandFailure(
        .usage, "unknown command '\(name)'. Use \(meant.usage.form): \(meant.usage.text).")
    }
    // The help of such a command is still printed.
    if words.contains("--help") || words.contains("-h") { return nil }
    switch name {
    case "shell": return CommandFailure(.usage, "this is already a shell. \\c NAME opens another connection.")
    case "dashboard", "serve":
      return CommandFailure(.usage, "'\(name)' needs a separate terminal. Run 'hearth \(name)' in another one.")
    case "attach" where words.count > 1 && !words.contains("--json"):
      return CommandFailure(.usage, "'attach' with a program needs a separate terminal. Run it in another one.")
    case _ where name.hasPrefix("-") && name != "--version":
      return CommandFailure(.usage, "\(name) is an option. Type a command before it; \\? lists commands.")
    default: return nil
    }
  }

  private static func milliseconds(_ duration: Duration) -> String {
    let tenths = Int((duration / .milliseconds(1) * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  // MARK: Effects of backslash commands

  /// Redirects the output of commands to a file. With `nil`, the output is printed again.
  func redirect(to path: String?) throws(CommandFailure) {
    output = nil
    if let path { output = try ShellOutput(path) }
  }

  /// Runs the commands of a file.
  func run(file path: String) async throws -> Int32 {
    guard depth < Self.depthLimit else {
      throw CommandFailure(.usage, "\(path): files run other files more than \(Self.depthLimit) levels deep.")
    }
    let text = try DocumentArgument.text(ofFile: path)
    depth += 1
    defer { depth -= 1 }
    return await run(text, from: .file(path))
  }

  private static let depthLimit = 10

  // MARK: Without a terminal

  /// Runs the commands on standard input. Each command runs when its last line has been read.
  func runInput() async -> Int32 {
    var first: Int32 = 0
    var (pending, line, begun) = ("", 0, 1)
    var lines = InputLines()
    while let text = lines.next() {
      line += 1
      if pending.isEmpty { begun = line }
      pending += text + "\n"
      if ShellText.isUnfinished(pending) { continue }
      let status = await run(pending, from: .input(line: begun))
      pending = ""
      if first == 0 { first = status }
      if isEnding || hasLostReader || status == 128 + SIGINT || (status != 0 && !options.keepsGoing) { return first }
    }
    if let problem = lines.problem {
      StandardError.write("hearth: line \(line + 1): \(problem)")
      return first != 0 ? first : ExitStatus.badData.rawValue
    }
    guard !pending.isEmpty else { return first }
    let status = await run(pending, from: .input(line: begun))
    return first != 0 ? first : status
  }
}

/// Repeating commands, and copying documents to and from files.
extension ShellSession {
  private static let usualInterval = 2.0
  private static let longestInterval = 86_400.0

  /// Runs the last command every N seconds. Ends if the command fails, is interrupted, or has run the given number of
  /// times.
  func watch(_ words: [String]) async throws -> Int32 {
    guard lastCommand != nil else {
      throw CommandFailure(.usage, "\\watch repeats the last command. Run a command first.")
    }
    let interval = words.first.map { Double($0) ?? 0 } ?? Self.usualInterval
    let times = words.count > 1 ? Int(words[1]) ?? 0 : Int.max
    guard interval > 0, interval <= Self.longestInterval, times > 0 else {
      throw CommandFailure(
        .usage, "\\watch \(words.joined(separator: " ")): expected seconds above 0 and up to 86400, and a count.")
    }
    for time in 1...times {
      if !options.isQuiet { StandardError.write("\(Timestamp.now.rfc3339Text), every \(Self.text(interval)) s:") }
      let status = await runAgain(at: "")
      if status != 0 || hasLostReader { return status }
      if time == times { break }
      // The wait runs within the surroundings, so that an interruption also ends it.
      try await surroundings.run { try await ContinuousClock().sleep(for: .seconds(interval)) }
    }
    return 0
  }

  private static func text(_ seconds: Double) -> String {
    seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
  }

  /// Writes documents to a file, or imports the documents of a file into a collection. CSV and TSV files do not
  /// preserve types, as with `get --csv`.
  func copy(_ words: [String], at place: String) async throws -> Int32 {
    guard words.count == 3, ["to", "from"].contains(words[1].lowercased()) else {
      throw CommandFailure(.usage, "use \(BackslashCommand.copy.usage.form).")
    }
    let (path, file) = (words[0], UserPath.absolute(words[2]))
    if words[1].lowercased() == "from" {
      if try Self.hasPaths(file) {
        throw CommandFailure(
          .usage, "\(words[2]) has a column of paths. Use 'import \(words[2])' to write to these paths.")
      }
      return await run(["import", file, "--into", path], at: place)
    }
    let ending = file.split(separator: ".").last.map { $0.lowercased() } ?? ""
    guard ["csv", "tsv"].contains(ending) else { return await run(["export", path, "-o", file], at: place) }
    // The file appears only when it is complete.
    let part = "\(file).part-\(UUID().uuidString.prefix(8))"
    let status = await run(["get", path, "--\(ending)"], to: try ShellOutput(part), at: place)
    if status == 0 {
      guard rename(part, file) == 0 else {
        unlink(part)
        throw CommandFailure(.cannotCreate, "\(file) cannot be written: \(String(cString: strerror(errno))).")
      }
    } else {
      unlink(part)
    }
    return status
  }

  /// Whether the rows of a file contain the path of each document, as `get --csv` writes it.
  private static func hasPaths(_ file: String) throws(CommandFailure) -> Bool {
    guard file.lowercased().hasSuffix(".csv") || file.lowercased().hasSuffix(".tsv") else { return false }
    var input = try InputBytes(file)
    let first = try input.read(5)
    return first.starts(with: Array("path".utf8)) && (first.count == 4 || [0x09, 0x0A, 0x0D, 0x2C].contains(first[4]))
  }
}

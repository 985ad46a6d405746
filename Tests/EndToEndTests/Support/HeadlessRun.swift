// SPDX-License-Identifier: Apache-2.0
import ChildProcesses

/// One run of a command without a screen, to its end.
struct HeadlessRun {
  let status: CInt
  let output: String
  let errors: String

  /// - Parameters:
  ///   - redirection: of the command's streams, as a shell reads it.
  ///   - runner: the program that runs the command, with its arguments; none runs it directly.
  init(
    _ arguments: [String], input: String? = nil, redirection: String = "", by runner: [String] = [],
    _ surroundings: Surroundings
  ) async throws {
    // Without a core file where a test is about signals.
    let shell = redirection.isEmpty ? [] : ["sh", "-c", "ulimit -c 0; exec \"$0\" \"$@\" \(redirection)"]
    let process = try ChildProcess(
      runner + shell + [Surroundings.hearth] + arguments, environment: surroundings.environment, streams: .pipes)
    // Both pipes are read while the process runs: a full one would stop it.
    let pipe = process.errors
    async let errors = ChildProcess.all(pipe)
    if let input { process.write(input) }
    process.closeInput()
    output = try await ChildProcess.all(process.output)
    self.errors = try await errors
    status = try await process.exitStatus()
  }

  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// Whether it says why it failed as a command should: one line that begins with the program's name.
  var hasOneErrorLine: Bool {
    errors.hasPrefix("hearth: ") && errors.filter { $0 == "\n" }.count == 1 && errors.hasSuffix("\n")
  }
}

// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc

/// A program in a tmux server of its own, seen through a control-mode client: tmux reports each output of the program,
/// and the screen is looked at again only then.
final class TmuxTerminal {
  let surroundings: Surroundings
  private let client: ChildProcess
  private var pending: [UInt8] = []
  private(set) var lines: [String] = []
  private var settled = 0

  var text: String { lines.joined(separator: "\n") }

  /// Runs `hearth` under a shell that says its exit status afterwards.
  ///
  /// - Parameter extra: more of the environment.
  init(
    _ arguments: [String] = [], in surroundings: Surroundings, width: Int = 120, height: Int = 36,
    extra: [String: String] = [:]
  ) async throws {
    self.surroundings = surroundings
    // Without a client of its own a server would outlive a test run that was killed.
    try surroundings.write(
      "tmux.conf",
      """
      set -g status off
      set -g destroy-unattached on
      set -s escape-time 0
      set -g default-terminal xterm-256color

      """)
    let variables = extra.map { "\($0)=\(Self.quoted($1))" }.joined(separator: " ")
    let command = ([Surroundings.hearth] + arguments).map(Self.quoted).joined(separator: " ")
    let folder = surroundings.folder.path
    // A key that interrupts hearth is for hearth alone. CAN before the status: a process that was killed may have ended
    // within an escape sequence.
    try surroundings.write(
      "run.sh",
      """
      trap : INT
      printf 'BEFORE\\n'
      env \(variables) sh -c 'echo $$ > \(folder)/pid; exec "$@"' sh \(command) 2>\(folder)/errors
      printf '\\030\\r\\nEXIT=%d\\n' $?
      read line

      """)
    // A socket of its own: the server of the terminal before may be about to end.
    client = try ChildProcess(
      [
        "tmux", "-S", "\(folder)/\(UUID().uuidString.prefix(8))", "-f", "\(folder)/tmux.conf", "-C", "new-session",
        "-x", "\(width)", "-y",
        "\(height)",
        "sh \(folder)/run.sh",
      ], environment: surroundings.environment, streams: .pipes)
    _ = try await reply()
  }

  deinit {
    if let id = processID { kill(id, SIGKILL) }
    // Killing the server is the last command; the client then ends by itself.
    client.write("kill-server\n")
    client.closeInput()
  }

  /// The process of `hearth`, which may have ended.
  var processID: pid_t? {
    (try? surroundings.text("pid")).flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
  }

  /// Types keys by their tmux names.
  func keys(_ names: String...) async throws {
    _ = try await command("send-keys " + names.map(Self.quoted).joined(separator: " "))
  }

  /// Types text as it is.
  func type(_ text: String) async throws { _ = try await command("send-keys -l -- " + Self.quoted(text)) }

  func resize(_ width: Int, _ height: Int) async throws {
    _ = try await command("resize-window -x \(width) -y \(height)")
  }

  func format(_ format: String) async throws -> String {
    try await command("display-message -p " + Self.quoted(format)).joined(separator: "\n")
  }

  /// Waits until the screen is as told, looking again after each output.
  ///
  /// - Throws: `Failure` with the screen after twenty seconds.
  @discardableResult
  func wait(for what: String, _ isThere: (TmuxTerminal) -> Bool) async throws -> TmuxTerminal {
    let deadline = ContinuousClock.now + Waiting.limit
    while true {
      lines = try await command("capture-pane -p")
      if isThere(self) { return self }
      guard try await output(by: deadline) else { throw Failure("waited in vain for \(what); the screen:\n\(text)") }
    }
  }

  /// Waits for a text on the screen.
  func wait(_ text: String) async throws { try await wait(for: "\"\(text)\"") { $0.text.contains(text) } }

  /// Goes down from the top of the collections until the selection is on a row that contains a text.
  func select(_ text: String) async throws {
    try await wait(text)
    try await keys("g")
    try await settle()
    for _ in 0..<30 {
      try await wait(for: "a selection") { $0.selection != nil }
      let selected = selection
      if selected?.contains(text) == true { return }
      try await keys("j")
      try await wait(for: "the next row") { $0.selection != selected }
    }
    throw Failure("there is no row \(text); the screen:\n\(self.text)")
  }

  /// Waits until every key before has been handled and drawn: what was on the screen before them is still there for a
  /// moment, and may look like their effect. A word typed into the palette is on the screen after what they did.
  private func settle() async throws {
    settled += 1
    let word = "settled\(settled)"
    try await keys(":")
    try await type(word)
    try await wait(word)
    try await keys("Escape")
    try await wait(for: "the closed palette") { !$0.text.contains(word) }
  }

  /// The selected row of the collections, without the panes beside it.
  private var selection: Substring? { lines.first { $0.hasPrefix("│▌") }?.dropFirst().prefix { $0 != "│" } }

  /// Waits for the end of `hearth`.
  /// - Returns: its exit status.
  func exitStatus() async throws -> Int {
    try await wait(for: "the end of hearth") { $0.text.contains("EXIT=") }
    let line = lines.last { $0.contains("EXIT=") } ?? ""
    return Int(line.drop { $0 != "=" }.dropFirst().prefix { $0.isNumber }) ?? -1
  }

  // MARK: The control protocol

  /// Sends a command.
  /// - Returns: the lines of its answer.
  private func command(_ text: String) async throws -> [String] {
    client.write(text + "\n")
    return try await reply()
  }

  /// The lines between the next `%begin` and its `%end`.
  private func reply() async throws -> [String] {
    let deadline = ContinuousClock.now + Waiting.limit
    var answer: [String]?
    var end = ""
    while let line = try await line(by: deadline) {
      if answer == nil {
        if line.hasPrefix("%begin ") {
          answer = []
          end = String(line.dropFirst("%begin ".count))
        }
        continue
      }
      if line == "%end \(end)" { return answer ?? [] }
      if line == "%error \(end)" { throw Failure("tmux: \(answer ?? [])") }
      answer?.append(line)
    }
    throw Failure("tmux does not answer")
  }

  /// Waits for a report of output, and swallows those that came with it.
  private func output(by deadline: ContinuousClock.Instant) async throws -> Bool {
    while let line = try await line(by: deadline) {
      if line.hasPrefix("%exit") { throw Failure("tmux ended") }
      guard line.hasPrefix("%output") || line.hasPrefix("%layout-change") else { continue }
      while let end = pending.firstIndex(of: 0x0A) { pending.removeSubrange(...end) }
      return true
    }
    return false
  }

  private func line(by deadline: ContinuousClock.Instant) async throws -> String? {
    while true {
      if let end = pending.firstIndex(of: 0x0A) {
        let line = String(decoding: pending[..<end], as: UTF8.self)
        pending.removeSubrange(...end)
        return line
      }
      guard await Waiting.isReadable(client.output, by: deadline) else { return nil }
      let bytes = Waiting.read(client.output)
      if bytes.isEmpty { throw Failure("tmux ended; the screen was:\n\(text)") }
      pending += bytes
    }
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
